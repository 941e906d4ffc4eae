import assert from "node:assert/strict";
import type { PlacementCheck } from "./engine.ts";
import { arrives, OpenDrive, ScriptedWorker } from "./scripted-worker.ts";

const ODD_IDS = [
  "a thread",
  "a/b?c=d#e%2F..",
  `'; DROP TABLE jobs; -- "`,
  "back\\slash \\u0000 \\0",
  "NUL \0 and a lone surrogate \ud800",
  "Grüße 🧵",
  "-",
  "x".repeat(1_500),
];

/** Wakes reach workers. */
export function deliveries(check: PlacementCheck): void {
  check("a wake of a process that is no worker reaches a worker, once", async ({ placement }) => {
    const worker = await ScriptedWorker.serving(await placement());
    const front = await placement();
    await front.wake("t");
    await arrives(() => worker.drives("t") > 0, "the drive");
    await front.wake("the last one");
    await arrives(() => worker.drives("the last one") > 0, "the second drive");
    assert.equal(worker.drives("t"), 1);
  });

  check("a wake of a worker reaches a worker", async ({ placement }) => {
    const worker = await ScriptedWorker.serving(await placement());
    await worker.placement.wake("t");
    await arrives(() => worker.drives("t") > 0, "the drive");
  });

  check("ids of threads arrive as they were sent", async ({ placement }) => {
    const worker = await ScriptedWorker.serving(await placement());
    const front = await placement();
    await Promise.all(ODD_IDS.map((id) => front.wake(id)));
    await arrives(() => worker.threads.length >= ODD_IDS.length, "the drives");
    assert.deepEqual(worker.threads, ODD_IDS.toSorted());
  });

  check("a hundred threads that are woken at once are all brought to the workers", async ({ placement }) => {
    const workers = [await ScriptedWorker.serving(await placement()), await ScriptedWorker.serving(await placement())];
    const front = await placement();
    const ids = Array.from({ length: 100 }, (_, at) => `t${at}`);
    await Promise.all(ids.map((id) => front.wake(id)));
    const brought = () => new Set(workers.flatMap(({ threads }) => threads));
    await arrives(() => brought().size === ids.length, "the hundredth drive");
  });

  check("drives that go on for long keep no other thread waiting", async ({ placement }) => {
    const open = new OpenDrive();
    const worker = await ScriptedWorker.serving(await placement(), (id) => (id === "quick" ? "done" : open.drive()));
    const ids = Array.from({ length: 40 }, (_, at) => `long ${at}`);
    for (const id of ids) await worker.placement.wake(id);
    await arrives(() => worker.threads.length === ids.length, "the fortieth drive");
    await worker.placement.wake("quick");
    await arrives(() => worker.drives("quick") === 1, "the drive of another thread");
    open.end("done");
  });
}
