import assert from "node:assert/strict";
import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Runs } from "../../src/undo/command-records.ts";
import { folder, type Folder } from "./desk.ts";

const SECOND = 1_000;

/** The trace of a command whose process was killed. */
function died(traces: Folder, { root, ago }: { root: string; ago: number }): string {
  const name = `${Date.now() - ago - SECOND}-died.run`;
  const path = join(traces.path, name);
  writeFileSync(path, JSON.stringify({ owner: "dead", root, threadId: "dead" }));
  const last = new Date(Date.now() - ago);
  utimesSync(path, last, last);
  return name;
}

describe("the trace of a command that is over", () => {
  test("goes when no other command runs", async () => {
    using traces = folder();
    const runs = new Runs(traces.path, "/project");
    const first = await runs.begin("a");
    const second = await runs.begin("b");
    await first.end();
    assert.equal(readdirSync(traces.path).length, 2);
    assert.equal(await runs.overlapped({ from: second.start, threadId: "b" }, { elsewhere: false }), true);
    await second.end();
    assert.throws(() => readdirSync(traces.path), { code: "ENOENT" });
  });

  test("stays while another thread's command on the same files may have died in its time", async () => {
    using traces = folder();
    const dead = died(traces, { root: "/project/part", ago: 10 * SECOND });
    const runs = new Runs(traces.path, "/project");
    await (await runs.begin("a")).end();
    assert.equal(readdirSync(traces.path).length, 2);
    const then = { from: Number.parseInt(dead, 10), threadId: "dead" };
    assert.equal(await runs.overlapped(then, { elsewhere: false }), true);
  });

  for (const [why, dead, threadId] of [
    ["that died long before it", { root: "/project", ago: 120 * SECOND }, "a"],
    ["on other files", { root: "/elsewhere", ago: 0 }, "a"],
    ["of its own thread", { root: "/project", ago: 0 }, "dead"],
  ] as const)
    test(`is not kept by a command ${why}, however many there are`, async () => {
      using traces = folder();
      const name = died(traces, dead);
      const runs = new Runs(traces.path, "/project");
      for (let n = 0; n < 20; n++) await (await runs.begin(threadId)).end();
      assert.deepEqual(readdirSync(traces.path), [name]);
    });
});
