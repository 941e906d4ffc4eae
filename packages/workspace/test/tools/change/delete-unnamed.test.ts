/** Listings omit names that no path can have. A deletion of the directory above must not take such a file with it. */
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { localWorkspace } from "@cinch/workspace";
import { TemporaryFolder } from "../../temporary-folder.ts";
import { edits, fileDesk } from "../file-desk.ts";

const NAMES: Record<string, Buffer> = {
  "a line break": Buffer.from("a\nb"),
  "a backslash": Buffer.from("a\\b"),
  "bytes that are not UTF-8": Buffer.from("caf\xe9.txt", "latin1"),
};

describe("a directory is not deleted if, at any depth, it holds a name with", () => {
  for (const [what, name] of Object.entries(NAMES)) {
    test(`${what}: its file could not be restored`, async () => {
      await using root = await TemporaryFolder.make();
      await using cache = await TemporaryFolder.make();
      mkdirSync(root.at("dir/deep"), { recursive: true });
      writeFileSync(root.at("dir/a.txt"), "a\n");
      writeFileSync(Buffer.concat([Buffer.from(root.at("dir/deep/")), name]), "mine\n");
      const workspace = localWorkspace({ root: root.path, sandbox: "none", cache: cache.path });
      await using d = await fileDesk({ workspace, permissions: edits });
      assert.match(
        await d.fails("delete", { file_path: "dir" }),
        /^dir\/deep holds a name that no path can have\. Its file could not be restored, so nothing was deleted\. /,
      );
      assert.deepEqual([readdirSync(root.at("dir")), readdirSync(root.at("dir/deep")).length], [["a.txt", "deep"], 1]);
      assert.deepEqual(d.changes, []);
    });
  }
});
