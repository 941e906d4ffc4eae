/** Undo: changes of tools and commands are shown as diffs and reverted, except in files that a person has changed since. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { Agent, Harness } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import { localWorkspace } from "@cinch/workspace";

mkdirSync("project");
const workspace = localWorkspace({ root: "project", cache: "cache" });
await workspace.upload({ "/a.txt": "one\ntwo\n", "/b.txt": "three\n" });

const model = script(
  call("read_file", { file_path: "a.txt" }),
  call("edit_file", { file_path: "a.txt", old_string: "two", new_string: "2" }),
  call("execute", { command: "echo four >> b.txt; mkdir new; echo five > new/c.txt" }),
  say("Three files changed."),
);
const harness = new Harness({
  id: "undo",
  agent: new Agent({ name: "editor", model }),
  workspace,
  initialState: { yolo: true }, // no call needs approval
});
await harness.init();
await harness.selectOrCreateThread();
const { seq } = harness.getDisplayState(); // the event to rewind to
await harness.sendMessage({ content: "Use digits." });

const show = () => {
  const files = readdirSync("project", { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".txt"));
  for (const name of files.toSorted())
    console.log(`  ${name}: ${readFileSync(`project/${name}`, "utf8").trim().replaceAll("\n", ", ")}`);
};
console.log("after the turn:");
show();
for (const { path, status, diff } of await harness.diff({ since: seq })) console.log(`${status} ${path}\n${diff}`);

writeFileSync("project/b.txt", "mine\n"); // a person changes a file that the agent has changed, too
const preview = await harness.rewind({ toSeq: seq, files: true, dryRun: true });
console.log("a rewind would leave:");
for (const { path, outcome, detail } of preview.files)
  console.log(`  ${path}: ${outcome}${detail ? ` (${detail})` : ""}`);

// `overwrite: ["/b.txt"]` would revert that file, too; `conversation: false` would keep the messages.
await harness.rewind({ toSeq: seq, files: true });
console.log("after the rewind:");
show();
console.log(`messages: ${harness.getDisplayState().messages.length}`);
await harness.close();
