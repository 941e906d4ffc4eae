import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { PlacementCheck } from "./engine.ts";
import { MOST_ATTEMPTS } from "./repetitions.ts";
import { arrives, ScriptedWorker } from "./scripted-worker.ts";

/** Wakes reach workers without room. */
export function misplacements(check: PlacementCheck): void {
  check("a wake that reached a worker without room comes again", async ({ placement }) => {
    let asked = 0;
    const busyFirst = () => (++asked === 1 ? ("busy" as const) : ("done" as const));
    await ScriptedWorker.serving(await placement(), busyFirst);
    const other = await ScriptedWorker.serving(await placement(), busyFirst);
    await other.placement.wake("t");
    await arrives(() => asked === 2, "the second drive");
  });

  check(
    "a thread that no worker has room for is not brought for ever, and is when woken again",
    async ({ placement }) => {
      let hasRoom = false;
      const worker = await ScriptedWorker.serving(await placement(), () => (hasRoom ? "done" : "busy"));
      await worker.placement.wake("t");
      await arrives(() => worker.drives("t") > 0, "the drive");
      await pause(3_000);
      assert.ok(worker.drives("t") <= MOST_ATTEMPTS, `${worker.drives("t")} attempts in 3 s`);
      hasRoom = true;
      const before = worker.drives("t");
      await worker.placement.wake("t");
      await arrives(() => worker.drives("t") > before, "the drive after the next wake");
    },
  );
}
