import assert from "node:assert/strict";
import type { BigIntStats } from "node:fs";
import { test } from "node:test";
import { nextTime, diskVersion } from "../../src/disk/disk-version.ts";

const stats = (mtimeNs: bigint, ctimeNs: bigint) =>
  ({ ino: 1n, size: 4n, mtimeNs, ctimeNs, isFile: () => true }) as unknown as BigIntStats;

test("on a file system with times in seconds, the version depends on the contents too", async () => {
  const second = 1_000_000_000n;
  const [one, two] = await Promise.all(
    ["one", "two"].map((hash) => diskVersion(stats(7n * second, 8n * second), async () => hash)),
  );
  assert.notEqual(one, two);
  const fine = () => assert.fail("the times are enough");
  await diskVersion(stats(7n * second + 1n, 8n * second), async () => fine());
});

test("no two files get the same time", () => {
  const begun = Date.now();
  const times = Array.from({ length: 1_000 }, nextTime);
  const ended = Date.now();
  assert.equal(new Set(times).size, 1_000);
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
  // The two clocks may differ a little.
  assert.ok(times[0]! * 1_000 > begun - 1_000 && times[0]! * 1_000 < ended + 1_000);
});
