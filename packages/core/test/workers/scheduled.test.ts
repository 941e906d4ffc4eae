import assert from "node:assert/strict";
import { test } from "node:test";
import { say, script, scriptedBy } from "@cinch/testkit";
import { texts } from "../support.ts";
import { eventually, Team } from "./team.ts";

test("a scheduled input is taken by any worker within a second of its time, with no process at its thread", async () => {
  await using team = new Team();
  const front = await team.front({ model: script() });
  const at = Date.now() + 700;
  const { inputId } = await front.followUp({ content: "later", at });
  const threadId = front.getCurrentThreadId()!;
  await front.createThread();
  const models = [scriptedBy(() => say("done")), scriptedBy(() => say("done"))];
  for (const model of models) await team.worker({ model });
  const began = async () => (await front.store.read(threadId)).find(({ type }) => type === "agent_start")?.at;
  await eventually(async () => (await began()) !== undefined);
  assert.ok((await began())! >= at);
  await front.switchThread({ threadId });
  assert.equal((await front.resultOf({ inputId })).reason, "complete");
  assert.equal(models.flatMap(({ requests }) => requests).length, 1);
  assert.deepEqual(await front.listInbox(), []);
});

test("a worker does not wait before it takes an input that is due", async () => {
  await using team = new Team();
  const front = await team.front({ model: script() });
  await team.worker({ model: scriptedBy(() => say("done")) });
  const late: number[] = [];
  // The best of several: a busy machine may delay any of them.
  for (let turns = 0; turns < 3; turns++) {
    const at = Date.now() + 300;
    const { inputId } = await front.followUp({ content: "later", at });
    await front.resultOf({ inputId });
    late.push(front.seen.findLast(({ type }) => type === "agent_start")!.at - at);
  }
  assert.ok(Math.min(...late) < 1_000, `it was ${late.join(", ")} ms late`);
  assert.equal(texts(front.seen).filter((text) => text === "user: later").length, 3);
});

test("an input that was dropped calls no worker at its time", async () => {
  await using team = new Team();
  const front = await team.front({ model: script() });
  await front.followUp({ content: "later", at: Date.now() + 100 });
  await front.abort({ inbox: true });
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.deepEqual(await front.store.stranded({ limit: 1, freeMs: 0 }), []);
});

test("a store whose clock is an hour ahead does not delay a scheduled input", async () => {
  await using team = new Team();
  team.data.now = () => Date.now() + 3_600_000;
  const front = await team.front({ model: script() });
  await team.worker({ model: scriptedBy(() => say("done")) });
  const at = Date.now() + 5_000;
  const { inputId } = await front.followUp({ content: "later", at });
  await front.resultOf({ inputId });
  const late = front.seen.findLast(({ type }) => type === "agent_start")!.at - at;
  assert.ok(late >= 0 && late < 30_000, `it was ${late} ms late`);
});
