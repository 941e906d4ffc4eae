import assert from "node:assert/strict";
import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { CommandRecords } from "../../src/undo/command-records.ts";
import { folder, type Folder } from "./desk.ts";

const SECOND = 1_000;

/** The record of a command whose process was killed. */
function died(shared: Folder, { root, ago }: { root: string; ago: number }): string {
  const name = `${Date.now() - ago - SECOND}-died.run`;
  const path = join(shared.path, name);
  writeFileSync(path, JSON.stringify({ owner: "dead", root, threadId: "dead" }));
  const last = new Date(Date.now() - ago);
  utimesSync(path, last, last);
  return name;
}

describe("the record of a command that has ended", () => {
  test("is removed when no other command runs", async () => {
    using shared = folder();
    const records = new CommandRecords(shared.path, "/project");
    const first = await records.begin("a");
    const second = await records.begin("b");
    await first.end();
    assert.equal(readdirSync(shared.path).length, 2);
    assert.equal(await records.overlapped({ from: second.start, threadId: "b" }, { elsewhere: false }), true);
    await second.end();
    assert.throws(() => readdirSync(shared.path), { code: "ENOENT" });
  });

  test("stays while a command of another thread on the same files may have died during it", async () => {
    using shared = folder();
    const dead = died(shared, { root: "/project/part", ago: 10 * SECOND });
    const records = new CommandRecords(shared.path, "/project");
    await (await records.begin("a")).end();
    assert.equal(readdirSync(shared.path).length, 2);
    const then = { from: Number.parseInt(dead, 10), threadId: "dead" };
    assert.equal(await records.overlapped(then, { elsewhere: false }), true);
  });

  for (const [why, dead, threadId] of [
    ["that died long before it", { root: "/project", ago: 120 * SECOND }, "a"],
    ["on other files", { root: "/elsewhere", ago: 0 }, "a"],
    ["of its own thread", { root: "/project", ago: 0 }, "dead"],
  ] as const)
    test(`is not kept by a command ${why}, however many there are`, async () => {
      using shared = folder();
      const name = died(shared, dead);
      const records = new CommandRecords(shared.path, "/project");
      for (let n = 0; n < 20; n++) await (await records.begin(threadId)).end();
      assert.deepEqual(readdirSync(shared.path), [name]);
    });
});
