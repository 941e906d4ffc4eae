import assert from "node:assert/strict";
import type { PlacementCheck } from "./engine.ts";
import { arrives, OpenDrive, ScriptedWorker } from "./scripted-worker.ts";

/** Workers leave. */
export function drains(check: PlacementCheck): void {
  check("a worker that has drained is brought nothing, and the others everything", async ({ placement }) => {
    const leaving = await ScriptedWorker.serving(await placement());
    const staying = await ScriptedWorker.serving(await placement());
    const front = await placement();
    await leaving.placement.drain();
    const ids = Array.from({ length: 20 }, (_, at) => `t${at}`);
    await Promise.all(ids.map((id) => front.wake(id)));
    await arrives(() => staying.threads.length === ids.length, "the twentieth drive");
    assert.deepEqual(leaving.threads, []);
  });

  check(
    "a drain waits for no drive and cuts none, and what it hands over is brought to another worker",
    async ({ placement }) => {
      const open = new OpenDrive();
      const leaving = await ScriptedWorker.serving(await placement(), open.drive);
      await leaving.placement.wake("t");
      await arrives(() => leaving.drives("t") === 1, "the drive");
      const staying = await ScriptedWorker.serving(await placement());
      await leaving.placement.drain();
      assert.equal(staying.drives("t"), 0);
      open.end("handed_over");
      await arrives(() => staying.drives("t") > 0, "the drive by another worker");
      assert.equal(leaving.drives("t"), 1);
    },
  );

  check("a worker that has drained can still wake the others", async ({ placement }) => {
    const leaving = await ScriptedWorker.serving(await placement());
    const staying = await ScriptedWorker.serving(await placement());
    await leaving.placement.drain();
    await leaving.placement.wake("t");
    await arrives(() => staying.drives("t") > 0, "the drive");
  });

  check("a placement that has drained can be closed while the others go on", async ({ placement }) => {
    const leaving = await ScriptedWorker.serving(await placement());
    const staying = await ScriptedWorker.serving(await placement());
    await leaving.placement.drain();
    await leaving.placement.close?.();
    await staying.placement.wake("t");
    await arrives(() => staying.drives("t") > 0, "the drive");
    assert.deepEqual(leaving.threads, []);
  });
}
