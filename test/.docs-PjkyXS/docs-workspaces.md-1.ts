import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, Harness, textOf } from "@cinch/core";
import { call, inTurn, say, script } from "@cinch/testkit";
import { compositeBackend, createWorkspace, directoryBackend, storeBackend, threadBackend } from "@cinch/workspace";

const root = mkdtempSync(join(tmpdir(), "repo-"));
const workspace = createWorkspace({
  backend: compositeBackend({
    default: threadBackend(), // the files of this thread
    routes: { "/memories/": storeBackend(), "/repo/": directoryBackend({ root }) },
  }),
});
const edit = (file_path: string, old_string: string, new_string: string) => ({ file_path, old_string, new_string });
const model = script(
  call("write_file", { file_path: "/notes.md", content: "a draft\n" }),
  call("write_file", { file_path: "/memories/user.md", content: "likes tea\n" }),
  call("write_file", { file_path: "/repo/src/a.ts", content: "export {};\n" }),
  say("Written."),
  inTurn(
    call(
      ["edit_file", edit("/notes.md", "a draft", "done"), "1"],
      ["edit_file", edit("/memories/user.md", "tea", "rum"), "2"],
    ),
    call(["read_file", { file_path: "/notes.md" }, "1"], ["read_file", { file_path: "/memories/user.md" }, "2"]),
  ),
  say("Done."),
);
const agent = new Agent({ name: "writer", model });
const harness = new Harness({ id: "files", agent, workspace, permissions: [{ category: "edit", policy: "allow" }] });
await harness.init();
const results: Record<string, string> = {};
harness.subscribe((event) => {
  if (event.type === "tool_end") results[event.toolCallId] = textOf(event.result.content);
});

await harness.sendMessage({ content: "Write." });
assert.equal(readFileSync(join(root, "src/a.ts"), "utf8"), "export {};\n");
const { seq } = harness.getDisplayState();
await harness.sendMessage({ content: "Edit." });

await harness.cloneThread({ atSeq: seq }); // from before the edits
await harness.sendMessage({ content: "Read." });
assert.match(results["1"]!, /a draft/); // the thread has the file as it was at that point
assert.match(results["2"]!, /likes rum/); // the store has one version for all threads

await workspace.upload({ "/repo/in.txt": "from the program" });
const files = await workspace.download(["/memories/user.md"]);
assert.equal(new TextDecoder().decode(files["/memories/user.md"]), "likes rum\n");
await harness.close();
rmSync(root, { recursive: true });
