import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { created } from "./events.ts";
import { Place } from "./place.ts";
import { StoreProcess } from "./store-process.ts";

/** The mode of a folder, and of everything in it. */
function modesIn(folder: string): Record<string, string> {
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
  const names = readdirSync(folder).toSorted();
  return { ".": mode(folder), ...Object.fromEntries(names.map((name) => [name, mode(join(folder, name))])) };
}

const PRIVATE = { ".": "700", "cinch.db": "600", "cinch.db-shm": "600", "cinch.db-wal": "600" };

/** A process whose umask allows every access. */
const openUmask = (path: string) => new StoreProcess({ path }, { env: { UMASK: "0" } });

test("only this user can access a store and its folders, whatever the umask is", async () => {
  await using place = new Place();
  const folder = join(place.folder, "deep", ".cinch");
  const child = openUmask(join(folder, "cinch.db"));
  await child.call("open");
  await child.call("append", "t", [created()], { afterSeq: 0 });
  assert.deepEqual(modesIn(folder), PRIVATE);
  assert.equal(statSync(join(place.folder, "deep")).mode & 0o777, 0o700);
  await child.call("close");
  assert.deepEqual(modesIn(folder), { ".": "700", "cinch.db": "600" });
  await child.kill();
});

test("opening a store removes the access of other users, but does not change a folder that is not Cinch's own", async () => {
  await using place = new Place();
  for (const [name, expected] of [
    [".cinch", "700"],
    ["project", "755"],
  ] as const) {
    const folder = join(place.folder, name);
    mkdirSync(folder);
    const first = await place.store({ path: join(folder, "cinch.db") });
    await first.append("t", [created()], { afterSeq: 0 });
    chmodSync(folder, 0o755);
    for (const file of readdirSync(folder)) chmodSync(join(folder, file), 0o666);
    const second = await place.store({ path: join(folder, "cinch.db") });
    assert.equal((await second.read("t")).length, 1);
    assert.deepEqual(modesIn(folder), { ...PRIVATE, ".": expected });
  }
});

test("a file that is not a store, its mode and its folder are not changed", async () => {
  await using place = new Place();
  const folder = join(place.folder, ".cinch");
  mkdirSync(folder);
  const [text, database] = [join(folder, "program"), join(folder, "other.db")];
  writeFileSync(text, "#!/bin/sh\necho hello\n");
  const other = new DatabaseSync(database);
  other.exec("CREATE TABLE theirs (a)");
  other.close();
  for (const path of [text, database]) chmodSync(path, 0o755);
  chmodSync(folder, 0o755);
  const before = [readFileSync(text), readFileSync(database)];
  for (const path of [text, database]) await assert.rejects(place.store({ path }), { code: "CORRUPT" });
  assert.deepEqual(modesIn(folder), { ".": "755", "other.db": "755", program: "755" });
  assert.deepEqual([readFileSync(text), readFileSync(database)], before);
});
