import assert from "node:assert/strict";
import { test } from "node:test";
import { registerProfile } from "@cinch/core";
import { agentsMd, skills } from "@cinch/memory";
import { say } from "@cinch/testkit";
import { createWorkspace, memoryBackend } from "@cinch/workspace";
import { notesIn, started, summarising, systemOf } from "./started.ts";

const skill = (description: string): string => `---\nname: release\ndescription: ${description}\n---\nTag it.\n`;

test("skills, AGENTS.md and a profile change while a thread runs: a note each, head and body keep their bytes, and the next head has all of it", async () => {
  const workspace = createWorkspace({ backend: memoryBackend() });
  await workspace.upload({ "/skills/release/SKILL.md": skill("Makes a release"), "/AGENTS.md": "Use tabs." });
  const context = [agentsMd({ files: ["/AGENTS.md"] }), skills(["/skills"])];
  const steps = [say("1"), say("2"), say("3"), say("4"), say("5"), say("6")];
  await using h = await started({ workspace, context, steps, memory: summarising });
  await h.sendMessage({ content: "a" });
  await workspace.upload({ "/skills/release/SKILL.md": skill("Publishes a release"), "/AGENTS.md": "Use spaces." });
  await h.sendMessage({ content: "b" });
  const unregister = registerProfile("scripted", { systemPromptSuffix: "Answer in verse." });
  try {
    await h.sendMessage({ content: "c" });
    await h.sendMessage({ content: "d" });
    await h.compact();
    await h.sendMessage({ content: "e" });
    await h.sendMessage({ content: "f" });
  } finally {
    unregister();
  }
  const notes = notesIn(h.seen);
  assert.equal(notes.length, 3);
  assert.match(notes.join("\n"), /Use spaces\.[^]*Publishes a release[^]*Answer in verse\./);
  const reasons = h.seen.flatMap((event) => (event.type === "prompt_head" ? [event.reason] : []));
  assert.deepEqual(reasons, ["first use", 'context sources and the profile of model "scripted/script" changed']);

  const [first, second, third, fourth, fifth, sixth] = h.requests;
  for (const request of [second, third, fourth]) assert.equal(systemOf(request!), systemOf(first!));
  assert.match(systemOf(fifth!), /Answer in verse\.[^]*Use spaces\.[^]*Publishes a release/);
  assert.equal(systemOf(sixth!), systemOf(fifth!));
  // Up to the compaction, each body begins with the one before.
  const bodies = h.requests
    .slice(0, 4)
    .map(([, ...body]) =>
      body.flatMap(({ role, content }) => [content].flat().map((part) => JSON.stringify([role, part]))),
    );
  for (const [at, body] of bodies.slice(1).entries()) assert.deepEqual(body.slice(0, bodies[at]!.length), bodies[at]);
});

test("a rewind to before a note, and a clone from there, get the note again; the head stays the same", async () => {
  const workspace = createWorkspace({ backend: memoryBackend() });
  await workspace.upload({ "/AGENTS.md": "Use tabs." });
  const steps = [say("1"), say("2"), say("3"), say("4")];
  await using h = await started({ workspace, context: [agentsMd({ files: ["/AGENTS.md"] })], steps });
  await h.sendMessage({ content: "a" });
  const { seq } = h.getDisplayState();
  await workspace.upload({ "/AGENTS.md": "Use spaces." });
  await h.sendMessage({ content: "b" });
  await h.rewind({ toSeq: seq });
  await h.sendMessage({ content: "c" });
  await h.cloneThread({ atSeq: seq });
  await h.sendMessage({ content: "d" });
  assert.equal(notesIn(h.seen).length, 3);
  const [first, ...others] = h.requests;
  for (const request of others) {
    assert.equal(systemOf(request), systemOf(first!));
    assert.equal(JSON.stringify(request).match(/Use spaces\./g)?.length, 1);
  }
});
