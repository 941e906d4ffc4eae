import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { memoryStore, type Harness } from "@cinch/core";
import { call, hang, inTurn, say, script, scriptedBy } from "@cinch/testkit";
import { gated, harness, next, onlyHere, texts } from "../support.ts";
import { ShiftedClock, StillClock } from "../shifted-clock.ts";

const HOUR = 3_600_000;
const answering = () => scriptedBy(() => say("done"));

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
}

const users = (h: { seen: Parameters<typeof texts>[0] }): string[] =>
  texts(h.seen)
    .filter((text) => text.startsWith("user: "))
    .map((text) => text.slice("user: ".length));

test("a follow-up with a time begins its turn within a second of it, and not before", async () => {
  await using h = await harness({ model: answering() });
  const at = Date.now() + 300;
  const started = next(h, "agent_start");
  const { inputId } = await h.followUp({ content: "later", at });
  const { at: begun } = await started;
  assert.ok(begun >= at, `it began ${at - begun} ms early`);
  assert.equal((await h.resultOf({ inputId })).reason, "complete");
  assert.deepEqual(users(h), ["later"]);
});

test("until its time a scheduled input is in the inbox, and the thread is idle and settled", async () => {
  await using h = await harness({ model: answering() });
  const at = Date.now() + HOUR;
  const { inputId } = await h.followUp({ content: "later", at });
  const { status, inbox, queuedFollowUps } = h.getDisplayState();
  assert.deepEqual([status, queuedFollowUps], ["idle", 0]);
  assert.deepEqual(
    inbox.map((item) => [item.inputId, item.dueAt]),
    [[inputId, at]],
  );
  assert.deepEqual(await h.listInbox(), inbox);
  assert.deepEqual(await h.settled(), { status: "idle", pending: [] });
  assert.deepEqual(
    (await h.listThreads()).map(({ active }) => active),
    [false],
  );
});

test("other inputs pass an input that is not due", async () => {
  await using h = await harness({ model: answering() });
  const at = Date.now() + HOUR;
  await h.followUp({ content: "in an hour", at });
  await h.followUp({ content: "in half an hour", at: at - HOUR / 2 });
  await h.sendMessage({ content: "now" });
  await h.steer({ content: "and this" });
  await h.settled();
  assert.deepEqual(users(h), ["now", "and this"]);
  assert.deepEqual(
    (await h.listInbox()).map(({ content }) => content),
    ["in half an hour", "in an hour"],
  );
});

test("an input that becomes due during a turn is taken after it, behind what was queued before", async () => {
  const { gate, started, open } = gated();
  const model = script(call("gate"), say("done"), say("1"), say("2"), say("3"), say("4"));
  const clock = new ShiftedClock();
  await using h = await harness({ model, tools: { gate }, clock });
  const first = h.sendMessage({ content: "go" });
  await started;
  const at = clock.now() + HOUR;
  await h.followUp({ content: "second, by time", at: at + 1 });
  await h.followUp({ content: "first, by time", at });
  await h.followUp({ content: "queued" });
  clock.shift(HOUR + 10);
  await h.followUp({ content: "after all" });
  assert.deepEqual(
    (await h.listInbox()).map(({ content, dueAt }) => [content, dueAt]),
    [
      ["queued", null],
      ["first, by time", null],
      ["second, by time", null],
      ["after all", null],
    ],
  );
  assert.equal(h.getDisplayState().queuedFollowUps, 4);
  open();
  await first;
  await h.settled();
  assert.deepEqual(users(h), ["go", "queued", "first, by time", "second, by time", "after all"]);
});

test("a scheduled input can be edited, keeps its time, and can be removed", async () => {
  const clock = new ShiftedClock();
  await using h = await harness({ model: answering(), clock });
  const at = clock.now() + HOUR;
  const { inputId } = await h.followUp({ content: "as written", at });
  const { inputId: removed } = await h.followUp({ content: "never", at: at - HOUR / 2 });
  const gone = h.resultOf({ inputId: removed });
  await h.editInput({ inputId, content: "as edited" });
  await h.removeInput({ inputId: removed });
  assert.deepEqual(await gone, { reason: "aborted", message: null });
  assert.deepEqual(
    (await h.listInbox()).map(({ content, dueAt }) => [content, dueAt]),
    [["as edited", at]],
  );
  const started = next(h, "agent_start");
  clock.shift(HOUR);
  await started;
  await h.resultOf({ inputId });
  assert.deepEqual(users(h), ["as edited"]);
});

test("an abort leaves scheduled inputs, and drops them with the inbox", async () => {
  await using h = await harness({ model: script(hang("well")) });
  const at = Date.now() + HOUR;
  const turn = h.sendMessage({ content: "go" });
  await next(h, "message_update");
  await h.followUp({ content: "later", at });
  await h.abort();
  await turn;
  assert.deepEqual(
    (await h.listInbox()).map(({ dueAt }) => dueAt),
    [at],
  );
  assert.equal(h.getDisplayState().flags.held, false);
  await h.resume();
  assert.deepEqual(await h.settled(), { status: "idle", pending: [] });
  assert.equal((await h.listInbox()).length, 1);
  await h.abort({ inbox: true });
  assert.deepEqual(await h.listInbox(), []);
});

test("a scheduled input ends the hold of an abort when it is due, as a new input does", async () => {
  const clock = new ShiftedClock();
  await using h = await harness({ model: script(inTurn(hang("well"), say("1")), say("2")), clock });
  const turn = h.sendMessage({ content: "go" });
  await next(h, "message_update");
  const { inputId } = await h.followUp({ content: "later", at: clock.now() + HOUR });
  await h.followUp({ content: "held" });
  await h.abort();
  await turn;
  assert.equal(h.getDisplayState().status, "idle");
  const started = next(h, "agent_start");
  clock.shift(HOUR);
  await started;
  await h.resultOf({ inputId });
  assert.deepEqual(users(h), ["go", "held", "later"]);
});

test("clones and rewinds have no scheduled inputs", async () => {
  await using h = await harness({ model: answering() });
  await h.sendMessage({ content: "go" });
  const { seq } = h.getDisplayState();
  await h.followUp({ content: "later", at: Date.now() + HOUR });
  const source = h.getCurrentThreadId()!;
  await h.cloneThread();
  assert.deepEqual(await h.listInbox(), []);
  await h.switchThread({ threadId: source });
  assert.equal((await h.listInbox()).length, 1);
  await h.rewind({ toSeq: seq });
  assert.deepEqual(await h.listInbox(), []);
});

test("an input for a time that has passed is taken now", async () => {
  await using h = await harness({ model: answering() });
  for (const at of [Date.now(), Date.now() - HOUR, 0, -1]) {
    const { inputId } = await h.followUp({ content: `at ${at}`, at });
    assert.equal((await h.resultOf({ inputId })).reason, "complete");
  }
  const [event] = (await h.listEvents()).filter(({ type }) => type === "input_accepted");
  assert.deepEqual([event?.v, event && "dueAt" in event], [1, false]);
});

for (const at of [Number.NaN, Infinity, "18:05", new Date(), null, Date.now() + 11 * 366 * 24 * HOUR])
  test(`an input at ${String(at)} is refused`, async () => {
    await using h = await harness({ model: answering() });
    await assert.rejects(h.followUp({ content: "later", at: at as number }), { code: "INVALID_INPUT" });
    assert.deepEqual(await h.listInbox(), []);
  });

test("only follow-ups have a time", onlyHere("a server words errors for the field of a request"), async () => {
  await using h = await harness({ model: answering() });
  const input = { content: "go", at: Date.now() + HOUR };
  const refused = { code: "INVALID_INPUT", message: /takes no "at": it is for now\. followUp\(\{ content, at \}\)/ };
  await assert.rejects(h.sendMessage(input), refused);
  await assert.rejects(h.steer(input), refused);
  for (const delivery of ["send", "steer"] as const)
    await assert.rejects(h.post({ ...input, delivery }), { code: "INVALID_INPUT", message: /only for .*follow_up/ });
  await h.post({ ...input, delivery: "follow_up" });
  assert.equal((await h.listInbox()).length, 1);
});

test("an input with a known id and another time is the same input", async () => {
  await using h = await harness({ model: answering() });
  const at = Date.now() + HOUR;
  await h.followUp({ id: "mine", content: "later", at });
  await h.followUp({ id: "mine", content: "later", at: at + HOUR });
  assert.deepEqual(
    (await h.listInbox()).map(({ dueAt }) => dueAt),
    [at],
  );
});

const here = { ...onlyHere("it is about the processes behind a server") };

test("the process that opens a thread after the time of an input takes it, once", here, async () => {
  const data = new MemoryData();
  const clock = new ShiftedClock();
  const died = new MemoryStore(data);
  {
    const h = await harness({ model: answering(), storage: died, clock });
    await h.followUp({ content: "later", at: clock.now() + HOUR });
    died.die();
  }
  clock.shift(HOUR);
  await using h = await harness({ model: answering(), storage: new MemoryStore(data), clock });
  await h.selectOrCreateThread();
  await h.settled();
  assert.deepEqual(users(h), ["later"]);
  assert.deepEqual(await h.listInbox(), []);
});

test("of several processes at a thread, one takes an input that is due", here, async () => {
  const data = new MemoryData();
  const models = [answering(), answering(), answering()];
  const seats: Harness[] = [];
  for (const model of models) seats.push(await harness({ model, storage: new MemoryStore(data) }));
  const [first] = seats as [Harness];
  const { id: threadId } = await first.createThread();
  for (const seat of seats) await seat.switchThread({ threadId });
  const due = Array.from({ length: 5 }, (_, n) => ({ content: `${n}`, at: Date.now() + 100 + n }));
  for (const input of due) await first.followUp(input);
  await until(() => seats.every((seat) => seat.getDisplayState().inbox.length === 0));
  for (const seat of seats) await seat.settled();
  assert.equal(models.flatMap(({ requests }) => requests).length, 5);
  for (const seat of seats) await seat.close();
});

test("a clock that is set forward an hour brings an input that is due by it", here, async () => {
  const clock = new ShiftedClock();
  await using h = await harness({ model: answering(), clock });
  await h.followUp({ content: "later", at: clock.now() + HOUR });
  const ended = next(h, "agent_end");
  clock.shift(HOUR);
  assert.equal((await ended).reason, "complete");
});

test("a clock that is set back an hour delays an input until it has caught up", here, async () => {
  const clock = new StillClock();
  await using h = await harness({ model: answering(), clock });
  const { inputId } = await h.followUp({ content: "later", at: clock.now() + 200 });
  // Set back, and then it shows the time that the timers take.
  clock.shift(1_500 - HOUR);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  assert.deepEqual([h.getDisplayState().status, (await h.listInbox()).length], ["idle", 1]);
  assert.deepEqual(await h.settled(), { status: "idle", pending: [] });
  clock.shift(HOUR);
  assert.equal((await h.resultOf({ inputId })).reason, "complete");
});

test("settled waits for an input whose time has come, though no process has taken it yet", here, async () => {
  const clock = new ShiftedClock();
  await using h = await harness({ model: answering(), clock });
  await h.followUp({ content: "later", at: clock.now() + HOUR });
  clock.shift(HOUR);
  assert.deepEqual(await h.settled(), { status: "idle", pending: [] });
  assert.equal(h.seen.filter(({ type }) => type === "agent_end").length, 1);
});

test("an older release leaves a thread with a scheduled input alone: the event is of a version that it does not know", async () => {
  await using h = await harness({ model: answering(), storage: memoryStore() });
  await h.followUp({ content: "later", at: Date.now() + HOUR });
  const accepted = (await h.listEvents()).find(({ type }) => type === "input_accepted");
  assert.equal(accepted?.v, 2);
});
