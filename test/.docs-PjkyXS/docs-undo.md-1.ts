import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, Harness } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import { localWorkspace } from "@cinch/workspace";

const folder = mkdtempSync(join(tmpdir(), "undo-"));
const root = join(folder, "root");
mkdirSync(root);
const workspace = localWorkspace({ root, sandbox: "none", cache: join(folder, "cache") });
await workspace.upload({ "/a.txt": "one\ntwo\n", "/b.txt": "b\n" });

const model = script(
  call("read_file", { file_path: "a.txt" }),
  call("edit_file", { file_path: "a.txt", old_string: "two", new_string: "2" }),
  call("execute", { command: "echo more >> b.txt; echo new > c.txt" }),
  say("Changed three files."),
);
const agent = new Agent({ name: "editor", model });
const harness = new Harness({ id: "undo", agent, workspace, initialState: { yolo: true } });
await harness.init();
await harness.selectOrCreateThread();
const { seq } = harness.getDisplayState();
await harness.sendMessage({ content: "Change some files." });

assert.deepEqual(Object.keys(harness.getDisplayState().modifiedFiles), ["/a.txt", "/b.txt", "/c.txt"]);
const [first] = await harness.diff({ since: seq });
assert.equal(first?.diff, "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");

writeFileSync(join(root, "b.txt"), "mine\n"); // another program
const look = await harness.rewind({ toSeq: seq, files: true, dryRun: true });
assert.deepEqual(look.files, [
  { path: "/a.txt", outcome: "restored" },
  { path: "/b.txt", outcome: "conflict", detail: "Another program has changed it since." },
  { path: "/c.txt", outcome: "deleted" },
]);
await harness.rewind({ toSeq: seq, files: true }); // overwrite: ["/b.txt"] would revert that one, too
assert.equal(readFileSync(join(root, "a.txt"), "utf8"), "one\ntwo\n");
assert.equal(readFileSync(join(root, "b.txt"), "utf8"), "mine\n");
assert.deepEqual(readdirSync(root).toSorted(), ["a.txt", "b.txt"]);
assert.equal(harness.getDisplayState().messages.length, 0);
await harness.close();
rmSync(folder, { recursive: true });
