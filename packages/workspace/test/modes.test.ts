import assert from "node:assert/strict";
import { chmodSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { localWorkspace } from "@cinch/workspace";
import { commandDesk } from "./tools/execute/command-desk.ts";
import { folder, program } from "./shells/shell-support.ts";

/** The files that other users can access: of a folder and everything in it, there must be none. */
function openToOthers(top: string): string[] {
  const all = [top, ...readdirSync(top, { recursive: true }).map((name) => join(top, String(name)))];
  return all.filter((path) => (lstatSync(path).mode & 0o077) !== 0);
}

const count = (top: string): number =>
  readdirSync(top, { recursive: true, withFileTypes: true }).filter((one) => one.isFile()).length;

test("only this user can access store, outputs and undo cache, whatever the umask is", async () => {
  using place = folder();
  const [root, cache] = [join(place.path, "root"), join(place.path, "cache")];
  mkdirSync(root);
  writeFileSync(join(root, "file.txt"), "first\n");
  await using harness = await program("modes-process.ts", [root, cache]);
  assert.equal(harness.line, "ready");
  assert.ok(count(join(cache, "output")) >= 2 && count(join(cache, "undo")) >= 1, "there is something to look at");
  assert.deepEqual([...openToOthers(cache), ...openToOthers(join(root, ".cinch"))], []);
});

test("opening removes other users' access to a cache and its files", async () => {
  using place = folder();
  const [root, cache] = [join(place.path, "root"), join(place.path, "cache")];
  mkdirSync(root);
  for (const name of ["output", "undo", "undo/0123456789abcdef-abcdefghijkl"])
    mkdirSync(join(cache, name), { recursive: true });
  const old = ["output/00000000000000000000000000000000.txt", "undo/0123456789abcdef-abcdefghijkl/x.pack"];
  for (const name of old) writeFileSync(join(cache, name), "old");
  for (const name of readdirSync(cache, { recursive: true })) chmodSync(join(cache, String(name)), 0o755);
  await using desk = await commandDesk(localWorkspace({ root, sandbox: "none", cache }));
  await desk.ok("execute", { command: "seq 1 40000" });
  assert.deepEqual([...openToOthers(join(cache, "output")), ...openToOthers(join(cache, "undo"))], []);
});
