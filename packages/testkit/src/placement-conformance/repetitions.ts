import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { PlacementCheck } from "./engine.ts";
import { arrives, OpenDrive, ScriptedWorker, settles } from "./scripted-worker.ts";

/** The same thread is woken again, and wakes are lost. */
export function repetitions(check: PlacementCheck): void {
  check("a thread that is woken after its drive is brought again", async ({ placement }) => {
    const worker = await ScriptedWorker.serving(await placement());
    for (const nth of [1, 2, 3]) {
      await worker.placement.wake("t");
      await arrives(() => worker.drives("t") >= nth, `drive ${nth}`);
    }
  });

  check(
    "a thread that is woken during its drive is brought again at once, because that drive may be ending",
    async ({ placement }) => {
      const open = new OpenDrive();
      const worker = await ScriptedWorker.serving(await placement(), (_, nth) => (nth === 1 ? open.drive() : "done"));
      await worker.placement.wake("t");
      await arrives(() => worker.drives("t") === 1, "the drive");
      await worker.placement.wake("t");
      await arrives(() => worker.drives("t") === 2, "the second drive");
      open.end("done");
    },
  );

  check("a wake without any worker settles, and a later worker is brought later wakes", async ({ placement }) => {
    const front = await placement();
    await settles(front.wake("early"), "the wake");
    const worker = await ScriptedWorker.serving(await placement());
    await front.wake("late");
    await arrives(() => worker.drives("late") > 0, "the drive");
  });

  check("a drive that fails does no harm to other threads, and is not repeated for ever", async ({ placement }) => {
    const worker = await ScriptedWorker.serving(await placement(), (id) => {
      if (id === "bad") throw new Error("this drive fails");
      return "done";
    });
    await worker.placement.wake("bad");
    await worker.placement.wake("good");
    await arrives(() => worker.drives("good") > 0 && worker.drives("bad") > 0, "the drives");
    await pause(3_000);
    assert.ok(worker.drives("bad") <= MOST_ATTEMPTS, `${worker.drives("bad")} attempts in 3 s`);
  });
}

/** Of one wake, in a few seconds. The threads that wait are in the store, which asks less often. */
export const MOST_ATTEMPTS = 6;
