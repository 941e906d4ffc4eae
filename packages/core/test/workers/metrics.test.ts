import assert from "node:assert/strict";
import { test } from "node:test";
import { call, hang, say, script } from "@cinch/testkit";
import { gated, harness } from "../support.ts";
import { Engine } from "./engine.ts";
import { eventually, Team } from "./team.ts";

test("metrics show what waits, what is driven, and what failed, while it is so", async () => {
  const engine = new Engine("fails");
  await using team = new Team(engine);
  const { gate, started, open } = gated();
  const front = await team.front({ model: script(), tools: { gate } });
  const turn = front.sendMessage({ content: "go" });
  await eventually(async () => (await front.metrics()).wakesFailed === 1);
  const waiting = await front.metrics();
  assert.deepEqual([waiting.awake, waiting.driven, waiting.drivenByAll, waiting.wakesSent], [1, 0, 0, 1]);
  await eventually(async () => (await front.metrics()).oldestAwakeMs > 0);
  const worker = await team.worker({ model: script(call("gate"), say("done")), tools: { gate } });
  await started;
  const driving = await worker.metrics();
  assert.deepEqual([driving.awake, driving.oldestAwakeMs, driving.driven, driving.drivenByAll], [0, 0, 1, 1]);
  open();
  await turn;
  const { append, takeovers, refusedAppends } = await worker.metrics();
  assert.ok(append.count >= 3 && append.sumMs >= append.maxMs && append.p50Ms <= append.p99Ms);
  assert.deepEqual([takeovers, refusedAppends], [0, 0]);
  const { follow, append: ofFront } = await front.metrics();
  assert.ok(follow.count > 0 && ofFront.count === 1);
});

test("metrics count the turns that a process takes over, and the late appends of the one that lost them", async () => {
  await using team = new Team();
  const dying = await team.worker({ model: script(hang("half")) });
  const front = await team.front({ model: script() });
  const turn = front.sendMessage({ content: "go" });
  await eventually(async () => (await front.metrics()).drivenByAll === 1);
  const heir = await team.worker({ model: script(say("whole")) });
  dying.store.die();
  await turn;
  assert.deepEqual([(await heir.metrics()).takeovers, (await front.metrics()).takeovers], [1, 0]);
});

test("without a placement, metrics are those of the one process", async () => {
  await using h = await harness({ model: script(say("hi")) });
  await h.sendMessage({ content: "go" });
  await eventually(async () => (await h.metrics()).driven === 0);
  const { open, awake, wakesSent, append, store } = await h.metrics();
  assert.deepEqual([open, awake, wakesSent, store], [1, 0, 0, null]);
  assert.ok(append.count > 0);
});
