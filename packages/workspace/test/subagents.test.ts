import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { Agent, Harness, textOf } from "@cinch/core";
import { call, say, script, scriptedBy } from "@cinch/testkit";
import { createWorkspace, localWorkspace, threadBackend } from "@cinch/workspace";

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

/** A lead whose subagent writes the file and the text that the message names: "a.txt one". Its workspace is a folder. */
async function delegating() {
  const root = mkdtempSync(join(tmpdir(), "cinch-test-"));
  const lastWords = ({ prompt }: LanguageModelV4CallOptions) =>
    JSON.stringify(prompt.findLast(({ role }) => role === "user")).match(/(\w+\.txt) (\w+)/)!;
  const isAsked = ({ prompt }: LanguageModelV4CallOptions) => prompt.at(-1)?.role === "user";
  const writer = new Agent({
    name: "writer",
    model: scriptedBy((options) => {
      const [, file, content] = lastWords(options);
      return isAsked(options) ? call("write_file", { file_path: `/${file}`, content }) : say("Written.");
    }),
  });
  const model = scriptedBy((options) =>
    isAsked(options) ? call("task", { agent: "writer", prompt: lastWords(options)[0] }) : say("Done."),
  );
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
