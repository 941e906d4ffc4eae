import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { restatePlacement } from "@cinch/restate";
import { Place } from "../../../postgres/test/place.ts";
import { until } from "../../../postgres/test/until.ts";
import { CountedDrive, CuttingProxy, TestEngine } from "../engine.ts";
import { LocalTeam } from "../local-team.ts";

const WAITING = 100;

test("a thread that is woken while no worker is up costs six attempts in ten seconds, and none after a minute", async () => {
  await using engine = await TestEngine.make();
  await using balancer = await CuttingProxy.to(engine.port);
  const counted = new CountedDrive();
  const worker = await engine.worker(counted.drive, { advertise: balancer.url, port: engine.port });
  await worker.wake("before");
  await until("the drive", () => counted.drives === 1);
  // An answer that is cut off would be asked for by attempts of its own.
  await until("the end of its invocation", async () => (await engine.invocations(balancer.url)) === 0);
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

test(`${WAITING} threads that no worker drove for 20 s are all driven within 5 s of the first worker's start`, async () => {
  await using engine = await TestEngine.make();
  await using team = new LocalTeam(await Place.make());
  const { walker: only } = await team.process("only", { engine: engine.options });
  const front = await team.harness("front", { url: team.place.url, placement: restatePlacement(engine.options) });
  const posted = Array.from({ length: WAITING }, async (_, nth) => {
    const seat = await front.createSession({ resourceId: `r${nth % 10}` });
    const { id } = await seat.createThread();
    return { seat, id };
  });
  const seats = await Promise.all(posted);
  await only.kill();
  await Promise.all(seats.map(({ seat }) => seat.post({ content: "Hello.", delivery: "send" })));
  // Restate has given up by then.
  await pause(20_000);
  assert.equal((await front.metrics()).awake, WAITING);
  const { served } = await team.process("next", { engine: engine.options });
  await Promise.all(seats.map(({ seat }) => seat.settled()));
  const store = await team.place.store();
  const firsts = await Promise.all(
    seats.map(async ({ id }) => {
      const events = await store.read(id);
      return events.find(({ type }) => type === "agent_start")!.at - served;
    }),
  );
  const sorted = firsts.toSorted((a, b) => a - b);
  console.log(`driven after ${sorted[WAITING / 2]} ms in the median, the last after ${sorted.at(-1)} ms`);
  // By the clock of the worker, from the moment when it served.
  assert.ok(sorted.at(-1)! <= 5_000, sorted.join(", "));
});
