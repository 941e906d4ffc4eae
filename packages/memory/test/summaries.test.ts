import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import type { HarnessEvent, Memory } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, fail, hang, type Step } from "@cinch/testkit";
import { observationalMemory, summaries } from "@cinch/memory";
import { answer, assertCovered, isSummariser, look, simulated, stepsOf, tokensOf, worker } from "./simulation.ts";
import { waitingClock } from "../../testkit/test/waiting-clock.ts";

type Of<T extends HarnessEvent["type"]> = Extract<HarnessEvent, { type: T }>;
const ofType = <T extends HarnessEvent["type"]>(seen: readonly HarnessEvent[], type: T): Of<T>[] =>
  seen.filter((event): event is Of<T> => event.type === type);
const seqsOf = (seen: readonly HarnessEvent[]): number[] => ofType(seen, "tool_end").map(({ seq }) => seq);

const WINDOW = 12_000;

test("at 85 % of the window a summary replaces the older part, and each message is in it or in the prompt", async () => {
  const model = worker(120);
  await using simulation = await simulated(model, { memory: summaries(), contextWindow: WINDOW });
  const { harness, seen } = simulation;
  assert.equal((await harness.sendMessage({ content: "Look." })).reason, "complete");
  const made = ofType(seen, "context_summarised");
  assert.ok(made.length > 2);
  assert.ok(made.every(({ reason, range }) => reason === "window" && range?.[0] === 1));
  for (const [at, { prompt }] of stepsOf(model).entries()) {
    assertCovered(prompt, seqsOf(seen).slice(0, at));
    assert.ok(tokensOf(prompt) < WINDOW);
  }
  const usage = ofType(seen, "usage_update").filter(({ source }) => source === "summary");
  assert.equal(usage.length, made.length);
});

test("the request for a summary fits the window, whatever the messages hold", async () => {
  const model = worker(60);
  await using simulation = await simulated(model, { memory: summaries(), contextWindow: WINDOW });
  await simulation.harness.sendMessage({ content: "x".repeat(30_000) });
  const asked = model.requests.filter(isSummariser);
  assert.ok(asked.length > 0);
  for (const { prompt } of asked) assert.ok(tokensOf(prompt) < WINDOW * 0.6, `${tokensOf(prompt)}`);
});

test("after a summary, the newest messages of the user stand as they are", async () => {
  const model = worker(60);
  await using simulation = await simulated(model, { memory: summaries(), contextWindow: WINDOW });
  await simulation.harness.sendMessage({ content: "Look at everything, but never at secrets.txt." });
  assert.match(JSON.stringify(stepsOf(model).at(-1)!.prompt), /never at secrets\.txt/);
});

test("after a summary, open tasks are repeated", async () => {
  const todo = call("write_todos", { todos: [{ content: "Read the last file", status: "in_progress" }] });
  let isWritten = false;
  const model = worker(60, {
    agent() {
      if (isWritten) return undefined;
      isWritten = true;
      return todo;
    },
  });
  await using simulation = await simulated(model, { memory: summaries(), contextWindow: WINDOW });
  const { harness, seen } = simulation;
  await harness.sendMessage({ content: "Look." });
  const last = ofType(seen, "context_summarised").at(-1)!;
  const note = seen.slice(seen.indexOf(last)).find((event) => event.type === "message_end");
  assert.match(JSON.stringify(note), /Read the last file/);
});

test("a summariser that fails leaves the range out, with a note on how to recall it, and is asked three times a turn at most", async () => {
  const model = worker(150, { summariser: () => fail(new Error("no")) });
  await using simulation = await simulated(model, { memory: summaries(), contextWindow: WINDOW });
  const { harness, seen } = simulation;
  assert.equal((await harness.sendMessage({ content: "Look." })).reason, "complete");
  assert.ok(ofType(seen, "context_summarised").length > 3);
  assert.equal(model.requests.filter(isSummariser).length, 3);
  assert.match(JSON.stringify(stepsOf(model).at(-1)!.prompt), /<left-out from=.*recall/s);
  for (const [at, { prompt }] of stepsOf(model).entries()) assertCovered(prompt, seqsOf(seen).slice(0, at));
});

test("a summariser that hangs is abandoned after a minute, and the turn goes on", async () => {
  const clock = {
    now: () => Date.now(),
    after(ms: number, done: () => void) {
      // A minute passes at once.
      const timer = setTimeout(done, ms >= 60_000 ? 100 : ms);
      return () => clearTimeout(timer);
    },
  };
  const model = worker(40, { summariser: () => hang() });
  await using simulation = await simulated(model, { memory: summaries(), contextWindow: WINDOW, clock });
  assert.equal((await simulation.harness.sendMessage({ content: "Look." })).reason, "complete");
  assert.equal(ofType(simulation.seen, "context_summarised").at(0)?.blob, undefined);
});

const tooLong = fail(
  Object.assign(new Error("prompt is too long: 210000 tokens > 200000 maximum"), { statusCode: 400 }),
);

test("a prompt that the provider refuses as too long is compacted once and sent again", async () => {
  const model = worker(20, {
    agent: ({ prompt }, steps) => (steps === 15 && tokensOf(prompt) > 4_000 ? tooLong : undefined),
  });
  await using simulation = await simulated(model, { memory: summaries() });
  assert.equal((await simulation.harness.sendMessage({ content: "Look." })).reason, "complete");
  const reasons = ofType(simulation.seen, "context_summarised").map(({ reason }) => reason);
  assert.deepEqual(reasons, ["overflow"]);
});

test("a prompt that stays too long ends the turn with CONTEXT_OVERFLOW, after one compaction", async () => {
  for (const memory of [summaries(), observationalMemory()]) {
    const model = worker(20, { agent: (_, steps) => (steps >= 10 ? tooLong : undefined) });
    await using simulation = await simulated(model, { memory });
    const { reason, error } = await simulation.harness.sendMessage({ content: "Look." });
    assert.deepEqual([reason, error?.code], ["error", "CONTEXT_OVERFLOW"]);
    assert.equal(ofType(simulation.seen, "context_summarised").length, 1);
  }
});

test("a memory that could always leave more out is asked once for an overflow", async () => {
  const model = worker(20, { agent: (_, steps) => (steps >= 3 ? tooLong : undefined) });
  let overflows = 0;
  const memory: Memory = {
    plan: ({ hasOverflowed, fromSeq, boundaries }) => ({
      cut:
        hasOverflowed && ++overflows < 5
          ? { kind: "leave_out", range: [1, boundaries.at(-1)?.seq ?? fromSeq - 1], reason: "overflow" }
          : null,
      observe: null,
      reflect: null,
    }),
    summarise: async () => "",
  };
  await using simulation = await simulated(model, { memory });
  const { error } = await simulation.harness.sendMessage({ content: "Look." });
  assert.equal(error?.code, "CONTEXT_OVERFLOW");
  assert.equal(ofType(simulation.seen, "context_summarised").length, 1);
  assert.equal(overflows, 1);
});

test("compact() does it now, with the caller's wishes, on an idle thread", async () => {
  const model = worker(10);
  await using simulation = await simulated(model, { memory: summaries() });
  const { harness, seen } = simulation;
  await harness.sendMessage({ content: "Look." });
  const { range, tokensBefore, tokensAfter } = await harness.compact({ instructions: "Keep all file names." });
  assert.equal(range?.[0], 1);
  assert.ok(tokensAfter < tokensBefore / 3, `${tokensBefore} to ${tokensAfter}`);
  const asked = model.requests.filter(isSummariser);
  assert.match(JSON.stringify(asked[0]!.prompt[0]), /Keep all file names\./);
  assert.equal(harness.getDisplayState().status, "idle");
  assert.deepEqual(await harness.compact(), { range: null, tokensBefore: tokensAfter, tokensAfter });
  await harness.sendMessage({ content: "And now?" });
  assertCovered(stepsOf(model).at(-1)!.prompt, seqsOf(seen));
});

test("requests that wait for one summary are all in it", async () => {
  const areRequested = Promise.withResolvers<void>();
  const held: Step = async function* (options) {
    await areRequested.promise;
    yield* answer("I look.", { name: "look", input: { at: 0 }, id: "held" })(options);
  };
  const steps: Step[] = [held];
  const model = worker(10, { agent: (_, taken) => (taken < 5 ? undefined : steps.pop()) });
  await using simulation = await simulated(model, { memory: summaries() });
  const { harness, seen } = simulation;
  const turn = harness.sendMessage({ content: "Look." });
  while (steps.length > 0) await wait(1);
  const wishes = ["Keep all file names.", "Keep all dates."];
  const compacted = wishes.map((instructions) => harness.compact({ instructions }));
  while (ofType(seen, "compaction_requested").length < 2) await wait(1);
  areRequested.resolve();
  const ranges = (await Promise.all(compacted)).map(({ range }) => range);
  assert.ok(ranges[0]);
  assert.deepEqual(ranges[0], ranges[1]);
  const asked = model.requests.filter(isSummariser);
  assert.equal(asked.length, 1);
  assert.match(JSON.stringify(asked[0]!.prompt[0]), /Keep all file names\..*Keep all dates\./);
  await turn;
});

test("a memory whose range ends within a step is not obeyed, and the turn goes on", async () => {
  const model = worker(10);
  const memory: Memory = {
    plan: ({ fromSeq, boundaries }) => {
      const last = boundaries.at(-1);
      const range: [number, number] = [fromSeq, (last?.seq ?? 0) - 1];
      return { cut: last ? { kind: "leave_out", range, reason: "window" } : null, observe: null, reflect: null };
    },
    summarise: async () => "",
  };
  await using simulation = await simulated(model, { memory });
  assert.equal((await simulation.harness.sendMessage({ content: "Look." })).reason, "complete");
  assert.deepEqual(ofType(simulation.seen, "context_summarised"), []);
  assert.match(ofType(simulation.seen, "info")[0]!.message, /The memory could not plan: .*end of a step/);
});

test("an idle thread is free again in the append that compacts it", async () => {
  const store = new MemoryStore(new MemoryData());
  await using simulation = await simulated(worker(10), { memory: summaries(), storage: store });
  const { harness } = simulation;
  await harness.sendMessage({ content: "Look." });
  const leases: Promise<{ status: string }>[] = [];
  harness.subscribe(({ type, threadId }) => type === "context_summarised" && leases.push(store.lease(threadId)));
  await harness.compact();
  assert.deepEqual(
    (await Promise.all(leases)).map(({ status }) => status),
    ["free"],
  );
});

test("compact() rejects with the reason if the summary can't be made, and changes nothing", async () => {
  const model = worker(10, { summariser: () => fail(new Error("out of order")) });
  await using simulation = await simulated(model, { memory: observationalMemory() });
  const { harness } = simulation;
  await harness.sendMessage({ content: "Look." });
  const before = await harness.explainContext();
  await assert.rejects(harness.compact(), { message: /out of order/ });
  assert.deepEqual(await harness.explainContext(), before);
});

test("compact() while a turn runs is done at its next step, from another process too", async () => {
  const data = new MemoryData();
  const model = worker(400);
  await using first = await simulated(model, { memory: summaries(), storage: new MemoryStore(data) });
  await using second = await simulated(worker(0), { memory: summaries(), storage: new MemoryStore(data) });
  const turn = first.harness.sendMessage({ content: "Look." });
  await new Promise<void>((resolve) => {
    first.harness.subscribe((event) => event.type === "tool_end" && event.seq > 100 && resolve());
  });
  await second.harness.switchThread({ threadId: first.harness.getCurrentThreadId()! });
  const { range } = await second.harness.compact();
  assert.ok(range && range[1] > 50);
  assert.equal((await turn).reason, "complete");
});

test("a value that is no model is refused when the memory is made", () => {
  const says = { code: "INVALID_CONFIG", message: /must be a language model of the AI SDK, .*, or a string/ };
  for (const model of [5, "", null, {}, () => 1]) {
    assert.throws(() => summaries({ model: model as never }), says);
    assert.throws(() => observationalMemory({ observer: model as never }), says);
    assert.throws(() => observationalMemory({ reflector: model as never }), says);
  }
});

test("compact() without a memory says what to configure", async () => {
  const { Agent, Harness } = await import("@cinch/core");
  const agent = new Agent({ name: "a", model: worker(0), tools: { look } });
  await using harness = Object.assign(new Harness({ id: "x", agent }), {
    [Symbol.asyncDispose]: () => harness.close(),
  });
  await assert.rejects(harness.compact(), { code: "INVALID_CONFIG", message: /summaries\(\)/ });
});

test("an abort ends a turn that waits for a summary at once, even one that ignores it", async () => {
  const memory = { ...summaries(), summarise: () => new Promise<string>(() => undefined) };
  const model = worker(60);
  const clock = waitingClock();
  await using simulation = await simulated(model, { memory, contextWindow: WINDOW, clock });
  const { harness } = simulation;
  const turn = harness.sendMessage({ content: "Look." });
  await new Promise<void>((resolve) => {
    harness.subscribe((event) => event.type === "info" && event.message.startsWith("Summarising") && resolve());
  });
  const begun = clock.now();
  await harness.abort();
  assert.equal((await turn).reason, "aborted");
  assert.ok(clock.now() - begun < 2_000);
});

test("explainContext() says where the tokens go and what was left out, by range and reason", async () => {
  const model = worker(10);
  await using simulation = await simulated(model, { memory: summaries() });
  const { harness } = simulation;
  await harness.sendMessage({ content: "Look." });
  const before = await harness.explainContext();
  assert.deepEqual(before.leftOut, []);
  assert.ok(
    before.parts.toolResults > before.parts.messages && before.parts.tools > 0 && before.parts.instructions > 0,
  );
  assert.equal(
    before.total,
    Object.values(before.parts).reduce((sum, tokens) => sum + tokens, 0),
  );
  await harness.compact();
  const after = await harness.explainContext();
  assert.deepEqual(
    after.leftOut.map(({ reason }) => reason),
    ["summarised"],
  );
  assert.ok(after.parts.observations > 0 && after.total < before.total);
  assert.equal(before.memory.usage.inputTokens, 0);
  assert.ok(after.memory.usage.inputTokens > 0);
});

test("a process that opens the thread later builds the same prompt", async () => {
  const data = new MemoryData();
  const memory = summaries();
  const model = worker(60);
  await using first = await simulated(model, { memory, contextWindow: WINDOW, storage: new MemoryStore(data) });
  await first.harness.sendMessage({ content: "Look." });
  const threadId = first.harness.getCurrentThreadId()!;
  await first.harness.close();
  const later = worker(0, {});
  await using second = await simulated(later, { memory, contextWindow: WINDOW, storage: new MemoryStore(data) });
  await second.harness.switchThread({ threadId });
  await second.harness.sendMessage({ content: "Go on." });
  const [before, after] = [stepsOf(model).at(-1)!.prompt, later.requests[0]!.prompt];
  assert.deepEqual(JSON.parse(JSON.stringify(after.slice(0, before.length))), JSON.parse(JSON.stringify(before)));
});
