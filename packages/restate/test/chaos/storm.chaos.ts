import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { CountedDrive, CuttingProxy, TestEngine } from "../engine.ts";
import { until } from "../../../postgres/test/until.ts";

test("a thread that is woken while no worker is up costs six attempts in ten seconds, and none after a minute", async () => {
  await using engine = await TestEngine.make();
  await using balancer = await CuttingProxy.to(engine.port);
  const counted = new CountedDrive();
  const worker = await engine.worker(counted.drive, { advertise: balancer.url, port: engine.port });
  await worker.wake("before");
  await until("the drive", () => counted.drives === 1);
  balancer.state = "down";
  balancer.cut();
  const woken = performance.now();
  balancer.connections.length = 0;
  await worker.wake("t");
  await pause(75_000);
  const attempts = balancer.connections.map((at) => Math.round(at - woken));
  console.log(`attempts after ${attempts.join(", ")} ms`);
  assert.ok(attempts.length > 1);
  assert.ok(attempts.filter((ms) => ms < 10_000).length <= 6);
  assert.ok(attempts.every((ms) => ms < 60_000));
  balancer.state = "up";
  await worker.wake("t");
  await until("the drive", () => counted.drives === 2);
});
