import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { describe, test } from "node:test";
import type { CinchError, DriveOutcome } from "@cinch/core";
import { CuttingProxy, TestEngine } from "./engine.ts";
import { until } from "../../postgres/test/until.ts";

describe("a worker of Restate", { concurrency: true }, () => {
  test("that registers again and again disturbs neither drives nor wakes", async () => {
    await using engine = await TestEngine.make();
    const open = Promise.withResolvers<DriveOutcome>();
    const drives: string[] = [];
    const drive = (threadId: string) => {
      drives.push(threadId);
      return threadId === "long" ? open.promise : ("done" as const);
    };
    const first = await engine.worker(drive);
    await first.wake("long");
    await until("the drive", () => drives.length === 1);
    for (let at = 0; at < 10; at++) {
      const again = await engine.worker(drive);
      await again.wake(`t${at}`);
      await again.drain();
    }
    await until("the drive", () => drives.length >= 11);
    assert.equal(drives.filter((one) => one === "long").length, 1);
    open.resolve("done");
  });

  test("whose attempts a balancer cuts goes on with one drive", async () => {
    await using engine = await TestEngine.make();
    await using balancer = await CuttingProxy.to(engine.port);
    const open = Promise.withResolvers<DriveOutcome>();
    let attempts = 0;
    // As a harness: while the thread has a driver, another attempt is done at once.
    const drive = () => (++attempts % 2 === 1 ? open.promise : "done");
    const options = { advertise: balancer.url, port: engine.port };
    const worker = await engine.worker(drive, options);
    for (const wakes of [1, 2, 3]) {
      await worker.wake("t");
      await until("the attempt", () => attempts === 2 * wakes - 1);
      balancer.cut();
      await until("another attempt", () => attempts === 2 * wakes);
    }
    open.resolve("handed_over");
    await until("the wakes of what was handed over", () => attempts > 6);
  });

  test("shares its port and the drives with the others of its machine", async () => {
    await using engine = await TestEngine.make();
    const open = Promise.withResolvers<DriveOutcome>();
    const counts = [0, 0, 0];
    for (const [at] of counts.entries())
      await engine.worker(() => {
        counts[at]! += 1;
        return open.promise;
      });
    const front = engine.placement();
    await Promise.all(Array.from({ length: 60 }, (_, at) => front.wake(`t${at}`)));
    await until("the sixtieth drive", () => counts.reduce((a, b) => a + b) === 60);
    assert.ok(Math.min(...counts) >= 4, String(counts));
    open.resolve("done");
  });

  test("can't listen on a port that another program has", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const advertise = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    await using engine = await TestEngine.make({ advertise });
    await assert.rejects(
      engine.worker(() => "done"),
      (error: CinchError) => error.code === "INVALID_CONFIG" && /can't listen on port/.test(error.message),
    );
    other.close();
  });
});
