import assert from "node:assert/strict";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sqliteStore } from "@cinch/sqlite";
import { created, input } from "./events.ts";
import { Place } from "./place.ts";

test("a link to a store opens that store, even while it is open under its own path", async () => {
  await using place = new Place();
  mkdirSync(join(place.folder, "real"));
  const real = sqliteStore({ path: join(place.folder, "real", "c.db") });
  await real.open();
  await real.append("t", [created(), input("kept")], { afterSeq: 0 });
  symlinkSync(join(place.folder, "real", "c.db"), join(place.folder, "link.db"));
  const linked = sqliteStore({ path: join(place.folder, "link.db") });
  await linked.open();
  assert.equal((await linked.read("t")).length, 2);
  assert.ok(!existsSync(join(place.folder, "link.db-wal")));
  await linked.close();
  await real.close();
});

test("names that are not paths, and paths that cannot exist, are refused with a reason", async () => {
  await using place = new Place();
  writeFileSync(join(place.folder, "file"), "x");
  const refused: [path: string, message: RegExp][] = [
    [":memory:", /memoryStore\(\)/],
    ["file:x.db", /is not a path/],
    [join(place.folder, "file", "x.db"), /not a directory/i],
    [join(place.folder, "n".repeat(300)), /name too long/i],
  ];
  if (existsSync("/proc/self")) refused.push(["/proc/nope/x.db", /cannot be opened/]);
  for (const [path, message] of refused)
    await assert.rejects(sqliteStore({ path }).open(), { code: "STORE_FAILED", message });
  assert.ok(!existsSync(":memory:"));
});
