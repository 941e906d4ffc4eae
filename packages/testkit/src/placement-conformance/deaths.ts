import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { PlacementCheck } from "./engine.ts";
import { arrives, OpenDrive, ScriptedWorker } from "./scripted-worker.ts";

/** Processes of workers are killed and stopped. */
export function deaths(check: PlacementCheck): void {
  check("threads of a killed worker can be woken again at once", async ({ placement, process }) => {
    const doomed = await process();
    const open = new OpenDrive();
    const dead = await ScriptedWorker.serving(doomed.placement, open.drive);
    const ids = ["a", "b", "c"];
    for (const id of ids) await dead.placement.wake(id);
    await arrives(() => dead.threads.length === ids.length, "the drives");
    const living = await ScriptedWorker.serving(await placement());
    await doomed.process.kill();
    for (const id of ids) await living.placement.wake(id);
    await arrives(() => ids.every((id) => living.drives(id) > 0), "the drives by another worker");
  });

  check("beside a stopped worker, a thread that is woken again and again is driven", async ({ placement, process }) => {
    const stopped = await process();
    const still = await ScriptedWorker.serving(stopped.placement);
    const living = await ScriptedWorker.serving(await placement());
    await still.placement.wake("before");
    await arrives(() => still.drives("before") + living.drives("before") > 0, "a first drive");
    stopped.process.signal("SIGSTOP");
    const isDrivenWhenWoken = async () => {
      await living.placement.wake("t").catch(() => undefined);
      await pause(100);
      return living.drives("t") > 0;
    };
    await arrives(isDrivenWhenWoken, "a drive by the other worker");
    assert.equal(still.drives("t"), 0);
  });
}
