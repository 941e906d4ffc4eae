import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import type { Policy, Rule } from "@cinch/core";
import { localWorkspace } from "@cinch/workspace";
import { fileDesk, edits, pending, type Args, type FileDesk } from "../tools/file-desk.ts";

interface Options {
  /** Path rules, for reading and writing. */
  rules?: [path: string, Policy][];
  permissions?: Rule[];
}

/** A folder in which "notes" is a link to "private". */
class Folder {
  readonly #path = mkdtempSync(join(tmpdir(), "cinch-links-"));

  constructor(...files: string[]) {
    for (const file of files) {
      mkdirSync(dirname(this.at(file)), { recursive: true });
      writeFileSync(this.at(file), "old\n");
    }
    symlinkSync("private", this.at("notes"));
  }

  at(path: string): string {
    return join(this.#path, path);
  }

  fileDesk({ rules = [], permissions = edits }: Options): Promise<FileDesk> {
    const pathRules = rules.map(([path, mode]) => ({
      operations: ["read" as const, "write" as const],
      paths: [path],
      mode,
    }));
    const workspace = localWorkspace({ root: this.#path, sandbox: "none", permissions: pathRules });
    return fileDesk({ workspace, permissions });
  }

  [Symbol.dispose](): void {
    rmSync(this.#path, { recursive: true, force: true, maxRetries: 9 });
  }
}

const calls: [string, Args][] = [
  ["write_file", { file_path: "/notes/x", content: "new" }],
  ["edit_file", { file_path: "/notes/a", old_string: "old", new_string: "new" }],
  ["delete", { file_path: "/notes/sub" }],
  ["delete", { file_path: "/notes/a" }],
  ["read_file", { file_path: "/notes/a" }],
  ["ls", { path: "/notes" }],
  ["glob", { pattern: "**", path: "/notes/sub" }],
  ["grep", { pattern: "old", path: "notes" }],
];

describe("where a link leads", () => {
  for (const [tool, args] of calls) {
    test(`a call that needs an approval also needs it under the other name: ${tool} ${JSON.stringify(args)}`, async () => {
      using folder = new Folder("private/a", "private/sub/b");
      await using d = await folder.fileDesk({ rules: [["/private/**", "ask"]] });
      const turn = d.send([tool, args]);
      assert.equal((await pending(d)).toolName, tool);
      await d.harness.respondToToolApproval({ decision: "decline", message: "no" });
      await turn;
      assert.deepEqual(
        [existsSync(folder.at("private/x")), readFileSync(folder.at("private/a"), "utf8")],
        [false, "old\n"],
      );
    });

    test(`a pattern that denies also matches the other name: ${tool} ${JSON.stringify(args)}`, async () => {
      using folder = new Folder("private/a", "private/sub/b");
      const category = ["write_file", "edit_file", "delete"].includes(tool) ? ("edit" as const) : ("read" as const);
      await using d = await folder.fileDesk({
        permissions: [...edits, { category, match: "/private/**", policy: "deny" }],
      });
      assert.match(await d.fails(tool, args), /^Denied/);
    });
  }

  test("the link itself is deleted without an approval, and its target stays", async () => {
    using folder = new Folder("private/a");
    await using d = await folder.fileDesk({ rules: [["/private/**", "ask"]] });
    assert.match(await d.ok("delete", { file_path: "/notes" }), /^Deleted notes/);
    assert.ok(existsSync(folder.at("private/a")) && !existsSync(folder.at("notes")));
  });

  test("a search leaves out files that need an approval under their other name, and says so", async () => {
    using folder = new Folder("private/a", "private/sub/b");
    await using d = await folder.fileDesk({ rules: [["/private/sub/**", "ask"]] });
    const said = await d.ok("grep", { pattern: "old", path: "/notes" });
    assert.match(said, /^1 line in 1 file\nnotes\/a\n\[1 file left out: notes\/sub\/b\./);
  });

  test("a directory is not deleted with a file that needs an approval under its other name", async () => {
    using folder = new Folder("private/sub/b", "private/sub/deep/c");
    await using d = await folder.fileDesk({ rules: [["/private/sub/deep/**", "ask"]] });
    assert.match(await d.fails("delete", { file_path: "/notes/sub" }), /holds 1 file that a rule protects/);
    assert.ok(existsSync(folder.at("private/sub/b")));
  });

  test("a rule for one of the names allows nothing; the offered pattern covers both", async () => {
    using folder = new Folder("private/a");
    await using d = await folder.fileDesk({ permissions: [{ category: "edit", match: "/notes/**", policy: "allow" }] });
    const write = (file_path: string): [string, Args] => ["write_file", { file_path, content: "new" }];
    const turn = d.send(write("/notes/x"));
    assert.equal((await pending(d)).suggestion, "/{notes/**,private/**}");
    await d.harness.respondToToolApproval({ decision: "always_allow_tool" });
    await turn;
    await d.ok(...write("/notes/y"));
    await d.ok(...write("/private/z"));
    const other = d.send(write("/other"));
    await pending(d);
    await d.harness.respondToToolApproval({ decision: "decline", message: "no" });
    await other;
    assert.ok(!existsSync(folder.at("other")));
  });
});
