import assert from "node:assert/strict";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Place } from "./cli.ts";

test("compiled code is kept where only its user can write, not among temporary files", async () => {
  await using place = new Place();
  const { code } = await place.run(["--version"], { env: { NODE_COMPILE_CACHE: "", TMPDIR: place.folder } });
  assert.equal(code, 0);
  assert.equal(existsSync(join(place.folder, "node-compile-cache")), false);
  const state = join(place.home, ".local/state/cinch");
  assert.equal(readdirSync(join(state, "compiled")).length, 1);
  for (const folder of [state, join(state, "compiled")]) assert.equal(statSync(folder).mode & 0o077, 0);
});

test("a home that can't be written is no reason not to start", async () => {
  await using place = new Place();
  const env = { NODE_COMPILE_CACHE: "", HOME: "/dev/null" };
  assert.equal((await place.run(["--version"], { env })).code, 0);
});
