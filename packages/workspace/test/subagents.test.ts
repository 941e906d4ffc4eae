import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { Agent, Harness, textOf } from "@cinch/core";
import { call, say, script, scriptedBy } from "@cinch/testkit";
import { createWorkspace, localWorkspace, threadBackend } from "@cinch/workspace";
import { next } from "../../core/test/support.ts";

test("a subagent's files in the thread are those of the top-level thread", async () => {
  const writer = new Agent({
    name: "writer",
    model: script(call("write_file", { file_path: "/a.txt", content: "from the child\n" }), say("Written.")),
  });
  const model = script(
    call("task", { agent: "writer", prompt: "Write it" }),
    call("read_file", { file_path: "/a.txt" }),
    say("Read."),
  );
  const h = new Harness({
    id: "t",
    agent: new Agent({ name: "lead", model, subagents: [writer] }),
    workspace: createWorkspace({ backend: threadBackend() }),
    permissions: [{ category: "edit", policy: "allow" }],
  });
  await h.sendMessage({ content: "go" });
  const outcomes = h.getDisplayState().messages.flatMap((message) => Object.values(message.outcomes));
  assert.match(textOf(outcomes[1]!.result.content), /from the child/);
  await h.close();
});

test("a rewind reverts what subagents did to files, and diff shows it", async () => {
  const root = mkdtempSync(join(tmpdir(), "cinch-test-"));
  writeFileSync(join(root, "kept.txt"), "before\n");
  const writer = new Agent({
    name: "writer",
    model: script(
      call("read_file", { file_path: "/kept.txt" }),
      call(
        ["write_file", { file_path: "/kept.txt", content: "after\n" }],
        ["write_file", { file_path: "/new.txt", content: "new\n" }],
      ),
      say("Written."),
    ),
  });
  const model = script(say("Hello."), call("task", { agent: "writer", prompt: "Write it" }), say("Done."));
  const h = new Harness({
    id: "t",
    agent: new Agent({ name: "lead", model, subagents: [writer] }),
    workspace: localWorkspace({ root, sandbox: "none" }),
    permissions: [{ category: "edit", policy: "allow" }],
  });
  await h.sendMessage({ content: "hi" });
  const { seq } = h.getDisplayState();
  await h.sendMessage({ content: "go" });
  assert.equal(readFileSync(join(root, "kept.txt"), "utf8"), "after\n");
  assert.deepEqual((await h.diff({ since: seq })).map(({ path, status }) => [path, status]).toSorted(), [
    ["/kept.txt", "modified"],
    ["/new.txt", "added"],
  ]);
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.deepEqual(files.map(({ path, outcome }) => [path, outcome]).toSorted(), [
    ["/kept.txt", "restored"],
    ["/new.txt", "deleted"],
  ]);
  assert.equal(readFileSync(join(root, "kept.txt"), "utf8"), "before\n");
  assert.equal(existsSync(join(root, "new.txt")), false);
  await h.close();
  rmSync(root, { recursive: true, force: true, maxRetries: 9 });
});

/**
 * A lead whose subagent reads the file that the message names, and writes the text into it: "a.txt one". With "write a.txt one", the lead does
 * it. Its workspace is a folder.
 */
async function delegating() {
  const root = mkdtempSync(join(tmpdir(), "cinch-test-"));
  const orderIn = ({ prompt }: LanguageModelV4CallOptions) => {
    const at = prompt.findLastIndex(({ role }) => role === "user");
    const [order = "", write, file, content] = JSON.stringify(prompt[at]).match(/(write )?(\w+\.txt) (\w+)/) ?? [];
    const steps = [
      call("read_file", { file_path: `/${file}` }),
      call("write_file", { file_path: `/${file}`, content }),
    ];
    const answers = prompt.slice(at).filter(({ role }) => role === "assistant").length;
    return { order, isOwn: write !== undefined, step: steps[answers] ?? say("Done."), answers };
  };
  const writer = new Agent({ name: "writer", model: scriptedBy((options) => orderIn(options).step) });
  const model = scriptedBy((options) => {
    const { order, isOwn, step, answers } = orderIn(options);
    if (isOwn) return step;
    return answers === 0 ? call("task", { agent: "writer", prompt: order }) : say("Done.");
  });
  const h = new Harness({
    id: "t",
    agent: new Agent({ name: "lead", model, subagents: [writer] }),
    workspace: localWorkspace({ root, sandbox: "none" }),
    permissions: [{ category: "edit", policy: "allow" }],
  });
  await h.createThread();
  return Object.assign(h, {
    files: () => readdirSync(root).map((name) => `${name} ${readFileSync(join(root, name), "utf8")}`),
    async [Symbol.asyncDispose]() {
      await h.close();
      rmSync(root, { recursive: true, force: true, maxRetries: 9 });
    },
  });
}

for (const files of [true, false])
  test(`after a rewind ${files ? "with" : "without"} files that a subagent and its parent have changed, an earlier one reverts them`, async () => {
    await using h = await delegating();
    await h.sendMessage({ content: "write a.txt zero" });
    const { seq } = h.getDisplayState();
    await h.sendMessage({ content: "write a.txt one" });
    for (const text of ["two", "three"]) await h.sendMessage({ content: `a.txt ${text}` });
    await h.rewind({ toSeq: seq, files });
    assert.deepEqual(h.files(), [files ? "a.txt zero" : "a.txt three"]);
    const { files: outcomes } = await h.rewind({ toSeq: 1, files: true });
    assert.deepEqual(outcomes, [{ path: "/a.txt", outcome: "deleted" }]);
    assert.deepEqual(h.files(), []);
  });

test("a file of a subagent that was reverted alone is no conflict after the conversation is rewound, too", async () => {
  await using h = await delegating();
  for (const text of ["one", "two", "three"]) await h.sendMessage({ content: `a.txt ${text}` });
  for (const conversation of [false, true, false]) {
    const { files } = await h.rewind({ toSeq: 1, files: true, conversation });
    assert.deepEqual(
      files.filter(({ outcome }) => outcome === "conflict"),
      [],
    );
    assert.deepEqual(h.files(), []);
  }
});

test("a rewind of a clone reverts what subagents of its source did to files before it began, and diff shows it", async () => {
  await using h = await delegating();
  await h.sendMessage({ content: "a.txt one" });
  const { seq } = h.getDisplayState();
  await h.sendMessage({ content: "b.txt two" });
  await h.cloneThread();
  await h.cloneThread();
  await h.sendMessage({ content: "c.txt three" });
  assert.deepEqual(
    (await h.diff()).map(({ path }) => path),
    ["/a.txt", "/b.txt", "/c.txt"],
  );
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.deepEqual(files, [
    { path: "/b.txt", outcome: "deleted" },
    { path: "/c.txt", outcome: "deleted" },
  ]);
  // Now the events with which it began are reverted, too.
  await h.rewind({ toSeq: 1, files: true });
  assert.deepEqual(h.files(), []);
});

test("a clone whose conversation was rewound to before it began can still revert what subagents of its source did to files", async () => {
  await using h = await delegating();
  await h.sendMessage({ content: "a.txt one" });
  await h.cloneThread();
  await h.sendMessage({ content: "b.txt two" });
  await h.rewind({ toSeq: 1 });
  assert.deepEqual(h.files(), ["a.txt one", "b.txt two"]);
  await h.rewind({ toSeq: 1, files: true });
  assert.deepEqual(h.files(), []);
});

test("a rewind of a clone leaves what subagents of its source did to files after it began", async () => {
  await using h = await delegating();
  await h.sendMessage({ content: "a.txt one" });
  const { seq } = h.getDisplayState();
  await h.sendMessage({ content: "b.txt two" });
  await h.cloneThread({ atSeq: seq });
  await h.sendMessage({ content: "c.txt three" });
  await h.rewind({ toSeq: 1, files: true });
  assert.deepEqual(h.files(), ["b.txt two"]);
});

test("what a person did to files in the thread of a subagent and has rewound there stays so when its parent is rewound", async () => {
  await using h = await delegating();
  await h.sendMessage({ content: "write a.txt zero" });
  const { seq } = h.getDisplayState();
  await h.sendMessage({ content: "a.txt one" });
  const [child] = await h.listThreads({ parentId: h.getCurrentThreadId()! });
  const session = await h.createSession({ threadId: child!.id });
  const { seq: toSeq } = session.getDisplayState();
  for (const order of ["a.txt two", "a.txt three", "b.txt four"]) await session.sendMessage({ content: order });
  await session.rewind({ toSeq, files: true });
  assert.deepEqual(h.files(), ["a.txt one"]);
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.deepEqual(files, [{ path: "/a.txt", outcome: "restored" }]);
  assert.deepEqual(h.files(), ["a.txt zero"]);
});

test("a rewind with files to before the start of a background subagent stops it first", async () => {
  const root = mkdtempSync(join(tmpdir(), "cinch-test-"));
  let written = 0;
  const writer = new Agent({
    name: "writer",
    model: scriptedBy(() => call("write_file", { file_path: `/${++written}.txt`, content: "x" })),
  });
  const model = scriptedBy(({ prompt }) =>
    prompt.at(-1)?.role === "user"
      ? call("task", { agent: "writer", prompt: "Write", background: true })
      : say("It writes."),
  );
  const h = new Harness({
    id: "t",
    agent: new Agent({ name: "lead", model, subagents: [writer], subagentBackground: true }),
    workspace: localWorkspace({ root, sandbox: "none" }),
    permissions: [{ category: "edit", policy: "allow" }],
  });
  await h.createThread();
  const { seq } = h.getDisplayState();
  for (let times = 0; times < 3; times++) {
    const writes = next(h, "subagent_tool_end");
    await h.sendMessage({ content: "go" });
    await writes;
    await h.rewind({ toSeq: seq, files: true });
    assert.equal((await h.settled()).status, "idle");
    assert.deepEqual(readdirSync(root), []);
  }
  await h.close();
  rmSync(root, { recursive: true, force: true, maxRetries: 9 });
});
