import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Agent, Harness, textOf } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
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
