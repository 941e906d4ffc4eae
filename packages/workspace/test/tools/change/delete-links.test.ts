/** A deletion of a link is judged by the link's own path, whatever its target is. */
import assert from "node:assert/strict";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import type { Policy } from "@cinch/core";
import { localWorkspace } from "@cinch/workspace";
import { fileDesk, edits, pending } from "../file-desk.ts";

/** A folder with files, and with links to each kind of target. */
function folder(files: readonly string[], links: Record<string, string>) {
  const path = mkdtempSync(join(tmpdir(), "cinch-delete-links-"));
  const at = (name: string) => join(path, name);
  for (const name of [...files, ...Object.keys(links)]) mkdirSync(dirname(at(name)), { recursive: true });
  for (const name of files) writeFileSync(at(name), "old\n");
  for (const [name, target] of Object.entries(links)) symlinkSync(target, at(name));
  const isLink = (name: string) => lstatSync(at(name), { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  const open = (...rules: [path: string, Policy][]) => {
    const permissions = rules.map(([one, mode]) => ({
      operations: ["read" as const, "write" as const],
      paths: [one],
      mode,
    }));
    const workspace = localWorkspace({
      root: path,
      sandbox: "none",
      permissions,
      cache: join(path, "..", `${path}-c`),
    });
    return fileDesk({ workspace, permissions: edits });
  };
  const gone = () => [path, `${path}-c`].forEach((one) => rmSync(one, { recursive: true, force: true, maxRetries: 9 }));
  return { at, isLink, open, [Symbol.dispose]: gone };
}

const targets: [what: string, target: string][] = [
  ["a file", "../private/a"],
  ["a folder", "../private"],
  ["nowhere", "../private/none"],
  ["a file outside of the workspace", "/etc/hostname"],
  ["a folder outside of the workspace", "/etc"],
  ["itself", "link"],
];

describe("deleting a link", () => {
  for (const [what, target] of targets) {
    test(`to ${what} that the rules deny is decided by the rules for the link's own path`, async () => {
      using files = folder(["private/a", "links/x"], { "links/link": target });
      await using d = await files.open(["/private/**", "deny"]);
      assert.equal(
        await d.ok("delete", { file_path: "links/link" }),
        "Deleted links/link (0 bytes). It can't be restored: links, and what is over 67108864 bytes, are not kept.",
      );
      assert.deepEqual([files.isLink("links/link"), readFileSync(files.at("private/a"), "utf8")], [false, "old\n"]);
      assert.deepEqual(
        d.changes.map(({ path, operation, before, after }) => [path, operation, before?.hash, after]),
        [["/links/link", "delete", "link", null]],
      );
    });

    test(`to ${what} asks if the link's own path needs an approval`, async () => {
      using files = folder(["private/a", "links/x"], { "links/link": target });
      await using d = await files.open(["/links/**", "ask"], ["/**", "allow"]);
      const turn = d.send(["delete", { file_path: "links/link" }]);
      assert.deepEqual((await pending(d)).args, { file_path: "links/link" });
      assert.ok(files.isLink("links/link"));
      await d.harness.respondToToolApproval({ decision: "approve" });
      await turn;
      assert.ok(!files.isLink("links/link") && existsSync(files.at("private/a")));
    });

    test(`to ${what} is denied if the link's own path is, also through a linked folder`, async () => {
      using files = folder(["private/a", "links/x"], { "links/link": target, way: "links" });
      await using d = await files.open(["/links/**", "deny"]);
      for (const file_path of ["links/link", "way/link"]) await d.fails("delete", { file_path });
      assert.ok(files.isLink("links/link"));
    });
  }

  test("does not reveal whether a denied path exists", async () => {
    using files = folder(["private/a"], { there: "private/a", none: "private/none" });
    await using d = await files.open(["/private/**", "deny"]);
    const [there, none] = [await d.ok("delete", { file_path: "there" }), await d.ok("delete", { file_path: "none" })];
    assert.equal(there.replace("there", "none"), none);
  });
});
