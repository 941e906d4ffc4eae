import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { test } from "node:test";
import {
  reduceDisplay,
  type Clock,
  type Harness,
  type HarnessDisplayState,
  type HarnessEvent,
  type Memory,
} from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, hang, type ScriptedModel, type Step } from "@cinch/testkit";
import { observationalMemory, summaries } from "@cinch/memory";
import { answer, isSummariser, simulated, worker } from "./simulation.ts";
import { waitingClock } from "../../testkit/test/waiting-clock.ts";

const summariesAsked = (model: ScriptedModel): number => model.requests.filter(isSummariser).length;

/** Settles when the summariser has been asked, and hangs. */
async function isCompacting(model: ScriptedModel): Promise<void> {
  while (summariesAsked(model) === 0) await wait(1);
}

const refused = (compacted: Promise<unknown>): Promise<{ code?: string; message: string }> =>
  compacted.then(
    () => ({ message: "it was compacted" }),
    (error: { code: string; message: string }) => error,
  );

/** An abort ends everything within its time, and the summariser is not asked again. */
async function abortsAt(harness: Harness, model: ScriptedModel, clock: Clock): Promise<void> {
  const begun = clock.now();
  await harness.abort();
  assert.ok(clock.now() - begun < 2_000, "an abort takes less than 2 s");
  assert.equal((await harness.settled()).status, "idle");
  await wait(100);
  assert.equal(summariesAsked(model), 1);
}

test("an abort ends a turn and the compaction that was requested in it", async () => {
  const model = worker(4_000, { summariser: () => hang() });
  const clock = waitingClock();
  await using simulation = await simulated(model, { memory: summaries(), clock });
  const { harness, seen } = simulation;
  const turn = harness.sendMessage({ content: "Look." });
  while (seen.filter(({ type }) => type === "tool_end").length < 5) await wait(1);
  const compacted = refused(harness.compact());
  await isCompacting(model);
  await abortsAt(harness, model, clock);
  assert.equal((await turn).reason, "aborted");
  assert.match((await compacted).message, /was aborted/);
});

test("an abort ends the compaction of an idle thread", async () => {
  const model = worker(5, { summariser: () => hang() });
  const clock = waitingClock();
  await using simulation = await simulated(model, { memory: summaries(), clock });
  const { harness } = simulation;
  await harness.sendMessage({ content: "Look." });
  const compacted = refused(harness.compact());
  await isCompacting(model);
  await abortsAt(harness, model, clock);
  assert.match((await compacted).message, /was aborted/);
});

test("a thread is running while its prompt is compacted between turns, and then idle: also for a display that was sent", async () => {
  const held = Promise.withResolvers<void>();
  const summariser = async function* (options: Parameters<Step>[0]) {
    await held.promise;
    yield* answer("Short.")(options);
  };
  const model = worker(5, { summariser: () => summariser });
  await using simulation = await simulated(model, { memory: summaries() });
  const { harness } = simulation;
  await harness.sendMessage({ content: "Look." });
  assert.equal(harness.getDisplayState().status, "idle");
  const compacted = harness.compact();
  await isCompacting(model);
  const { status, isRunning } = harness.getDisplayState();
  assert.deepEqual([status, isRunning], ["running", true]);
  let sent = JSON.parse(JSON.stringify(harness.getDisplayState())) as HarnessDisplayState;
  harness.subscribe((event) => (sent = reduceDisplay(sent, event)));
  held.resolve();
  assert.notEqual((await compacted).range, null);
  await harness.settled();
  assert.deepEqual([harness.getDisplayState().status, sent.status], ["idle", "idle"]);
});

test("an abort ends a turn that waits for a person, and the compaction meanwhile", async () => {
  const model = worker(0, {
    summariser: () => hang(),
    agent: (_, steps) => (steps === 0 ? undefined : call("ask_user", { question: "Which one?" })),
  });
  const clock = waitingClock();
  await using simulation = await simulated(model, { memory: summaries(), clock });
  const { harness } = simulation;
  await harness.sendMessage({ content: "Look." });
  const turn = harness.sendMessage({ content: "Ask me." });
  while (harness.getDisplayState().status !== "waiting") await wait(1);
  const compacted = refused(harness.compact());
  await isCompacting(model);
  await abortsAt(harness, model, clock);
  assert.equal((await turn).reason, "aborted");
  assert.match((await compacted).message, /was aborted/);
});

test("a compaction that is requested while a turn is being aborted is done after it", async () => {
  const model = worker(4_000);
  await using simulation = await simulated(model, { memory: summaries() });
  const { harness, seen } = simulation;
  const turn = harness.sendMessage({ content: "Look." });
  while (seen.filter(({ type }) => type === "tool_end").length < 5) await wait(1);
  const [, compacted] = await Promise.all([harness.abort(), harness.compact()]);
  assert.equal((await turn).reason, "aborted");
  assert.equal(compacted.range?.[0], 1);
  assert.equal(summariesAsked(model), 1);
});

test("a thread that is rewound, deleted or closed while it is compacted rejects compact() with the reason", async () => {
  const ends: [(harness: Harness, threadId: string) => Promise<unknown>, RegExp][] = [
    [(harness) => harness.rewind({ toSeq: 3 }), /rewound/],
    [(harness, threadId) => harness.deleteThread({ threadId }), /deleted/],
    [(harness) => harness.close(), /closed/],
  ];
  for (const [end, reason] of ends) {
    const model = worker(5, { summariser: () => hang() });
    await using simulation = await simulated(model, { memory: summaries() });
    const { harness } = simulation;
    await harness.sendMessage({ content: "Look." });
    const compacted = refused(harness.compact());
    await isCompacting(model);
    await end(harness, harness.getCurrentThreadId()!);
    assert.match((await compacted).message, reason);
  }
});

test("a compaction that a process did not finish is done by the next one, once", async () => {
  const data = new MemoryData();
  const dying = new MemoryStore(data);
  const model = worker(5, { summariser: () => hang() });
  const first = await simulated(model, { memory: summaries(), storage: dying });
  await first.harness.sendMessage({ content: "Look." });
  const threadId = first.harness.getCurrentThreadId()!;
  const compacted = refused(first.harness.compact());
  await isCompacting(model);
  dying.die();
  await first.harness.close().catch(() => undefined);
  await compacted;
  const later = worker(0);
  const store = new MemoryStore(data);
  await using second = await simulated(later, { memory: summaries(), storage: store });
  await second.harness.switchThread({ threadId });
  while (!second.seen.some(({ type }) => type === "context_summarised")) await wait(1);
  const done = (await store.read(threadId)).filter(({ type }) => type === "context_summarised");
  assert.deepEqual([done.length, summariesAsked(later)], [1, 1]);
});

for (const [when, runs] of [
  ["an idle thread", false],
  ["a running turn", true],
] as const)
  test(`a request with instructions that comes while a summary of ${when} is written is in the summary, which is made anew`, async () => {
    const opened = Promise.withResolvers<void>();
    const held: Step = async function* (options) {
      await opened.promise;
      yield* answer("Goal: look at files.")(options);
    };
    const model = worker(runs ? 150 : 5, {
      summariser: () => (summariesAsked(model) === 1 ? held : answer("Goal: look at all files.")),
    });
    const store = new MemoryStore(new MemoryData());
    await using simulation = await simulated(model, { memory: summaries(), storage: store });
    const { harness, seen } = simulation;
    const turn = harness.sendMessage({ content: "Look." });
    if (runs) while (seen.filter(({ type }) => type === "tool_end").length < 5) await wait(1);
    else await turn;
    const first = harness.compact({ instructions: "Keep all file names." });
    await isCompacting(model);
    const second = harness.compact({ instructions: "Keep all dates." });
    while (seen.filter(({ type }) => type === "compaction_requested").length < 2) await wait(1);
    const third = harness.compact();
    while (seen.filter(({ type }) => type === "compaction_requested").length < 3) await wait(1);
    opened.resolve();
    const ranges = (await Promise.all([first, second, third])).map(({ range }) => range);
    await turn;
    const asked = model.requests.filter(isSummariser).map(({ prompt }) => JSON.stringify(prompt[0]));
    assert.equal(asked.length, 2);
    assert.match(asked[1]!, /Keep all file names\..*Keep all dates\./);
    assert.ok(ranges[0]);
    assert.deepEqual(ranges, [ranges[0], ranges[0], ranges[0]]);
    const journal = await store.read(harness.getCurrentThreadId()!);
    const summary = journal.filter((event) => event.type === "context_summarised");
    assert.equal(summary.length, 1);
    assert.equal(new TextDecoder().decode(await store.blob(summary[0]!.blob!)), "Goal: look at all files.");
    const used = journal.filter((event) => event.type === "usage_update" && event.source === "summary");
    assert.equal(used.length, 2, "the summary that was not used has its usage");
  });

test("settled() waits until an idle thread is compacted", async () => {
  const opened = Promise.withResolvers<void>();
  const summary: Step = async function* (options) {
    await opened.promise;
    yield* answer("Goal: look at files.")(options);
  };
  const model = worker(5, { summariser: () => summary });
  await using simulation = await simulated(model, { memory: summaries() });
  const { harness } = simulation;
  await harness.sendMessage({ content: "Look." });
  const compacted = harness.compact();
  await isCompacting(model);
  let isSettled = false;
  const settled = harness.settled().then(({ status }) => {
    isSettled = true;
    return status;
  });
  await wait(50);
  assert.equal(isSettled, false);
  opened.resolve();
  assert.equal(await settled, "idle");
  assert.ok((await compacted).range);
});

test("compact() of a parked thread says that it must be resumed first", async () => {
  const data = new MemoryData();
  const dying = new MemoryStore(data);
  const first = await simulated(worker(4_000), { memory: summaries(), storage: dying });
  const turn = first.harness.sendMessage({ content: "Look." }).catch(() => undefined);
  while (first.seen.filter(({ type }) => type === "tool_end").length < 5) await wait(1);
  const threadId = first.harness.getCurrentThreadId()!;
  dying.die();
  await first.harness.close().catch(() => undefined);
  await turn;
  const storage = new MemoryStore(data);
  await using second = await simulated(worker(0), { memory: summaries(), storage, onRecover: "pause" });
  const { harness } = second;
  await harness.switchThread({ threadId });
  assert.equal((await harness.settled()).status, "parked");
  const { code, message } = await refused(harness.compact());
  assert.equal(code, "INVALID_INPUT");
  assert.match(message, /parked.*Resume it first/);
  await harness.resume();
  await harness.settled();
  assert.equal(second.seen.filter(({ type }) => type === "context_summarised").length, 1);
});

for (const task of ["observe", "summarise"] as const)
  test(`close() leaves no timer behind if a memory ignores the signal of ${task}`, async () => {
    const timers = new Set<NodeJS.Timeout>();
    const clock = {
      now: () => Date.now(),
      after(ms: number, done: () => void) {
        const timer = setTimeout(() => (timers.delete(timer), done()), ms);
        timers.add(timer);
        return () => (timers.delete(timer), clearTimeout(timer));
      },
    };
    const observing = task === "observe";
    const base = observing ? observationalMemory({ messageTokens: 4_000 }) : summaries();
    const memory: Memory = { ...base, [task]: () => new Promise<never>(() => undefined) };
    const window = observing ? 128_000 : 12_000;
    await using simulation = await simulated(worker(60), { memory, clock, contextWindow: window });
    const { harness, seen } = simulation;
    const isAsked = (event: HarnessEvent) =>
      event.type === "om_observation_start" || (event.type === "info" && event.message.startsWith("Summarising"));
    const turn = refused(harness.sendMessage({ content: "Look." }));
    while (!seen.some(isAsked)) await wait(1);
    await harness.close();
    await turn;
    await wait(20);
    assert.equal(timers.size, 0);
  });
