import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { viewFor } from "../../src/sandboxes/sandbox-view.ts";
import { folder } from "../shells/shell-support.ts";

/** What commands can read of `top`, with this PATH. */
function readableIn(top: string, root: string, path: string): string[] {
  const none = { hosts: [], readable: [], hidden: [], rules: [], tmp: "/tmp", home: "/tmp" };
  const line = { argv: [], env: { HOME: join(top, "home/user"), PATH: path }, cwd: root };
  return viewFor(line, { ...none, root }).readable.filter((one) => one.startsWith(top));
}

test("a folder on PATH that contains the home does not reveal it, under any name", () => {
  using place = folder();
  const top = place.path;
  for (const name of ["home/user", "root", "tools"]) mkdirSync(join(top, name), { recursive: true });
  symlinkSync(join(top, "home"), join(top, "link"));
  const paths = ["tools", "home", "home/", "home/../home", "link", "home/user"].map((name) => `${top}/${name}`);
  assert.deepEqual(readableIn(top, join(top, "root"), paths.join(":")), [join(top, "tools")]);
});

test("a workspace without .git is the worktree of no repository, whatever else is in it", () => {
  using place = folder();
  const root = join(place.path, "repository/worktrees/root");
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "gitdir"), join(root, ".git"));
  writeFileSync(join(root, "commondir"), "../..");
  assert.deepEqual(readableIn(place.path, root, ""), []);
});
