import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, type DurableEvent, type HarnessConfig, type HarnessEvent } from "@cinch/core";
import { MemoryData, MemoryStore, type SavedFold } from "@cinch/core/store";
import { call, hang, say, script, scriptedBy, type ScriptedModel } from "@cinch/testkit";
import * as fc from "fast-check";
import { reduceParts } from "../../src/folds/display-parts.ts";
import { newFolds, reduceAll } from "../../src/folds/folds.ts";
import { parseFolds, printFolds } from "../../src/folds/print.ts";
import { loadFolds, type ReadEvents } from "../../src/thread/load-folds.ts";
import { streams, tool, where } from "../folds/live-streams.ts";
import { harness, noting, permissions } from "../support.ts";

const atOnce = () => Promise.resolve();
const isDurable = (event: HarnessEvent): event is HarnessEvent & DurableEvent => "v" in event;

test("a fold that is saved at any event, with the events after it, equals the fold of the whole journal", async () => {
  await fc.assert(
    fc.asyncProperty(streams, fc.double({ min: 0, max: 1, noNaN: true }), async (stream, share) => {
      // A clone reads what it inherits under its own id.
      const empty = newFolds(stream.findLast(isDurable)?.threadId ?? "thread_a");
      const cut = Math.floor(share * stream.length);
      const [before, after] = [stream.slice(0, cut), stream.slice(cut).filter(isDurable)];
      // The display that is saved includes the contents of live events.
      const parts = before.reduce(reduceParts, empty.parts);
      const { state } = reduceAll(empty, before.filter(isDurable));
      const restored = await parseFolds(await printFolds({ state, parts }, atOnce), atOnce);
      const whole = reduceAll(empty, stream.filter(isDurable));
      assert.deepStrictEqual(reduceAll(restored, after), whole);
    }),
  );
});

test("the contents of live events are not saved", async () => {
  const input = { type: "tool-call", ...tool, input: {} } as const;
  const asked = { id: "m0", role: "assistant", content: [input] } as const;
  const durable = [
    { type: "agent_start", modeId: "default", modelId: "m", resumed: false },
    { type: "message_end", message: asked },
    { type: "tool_start", ...tool, args: {}, effect: "pure", key: "k" },
  ].map((event, at) => ({ ...event, v: 1, seq: at + 1, ...where }) as unknown as DurableEvent);
  const live = [
    { type: "message_start", messageId: "m1", role: "assistant" },
    { type: "message_update", messageId: "m1", role: "assistant", index: 0, part: "text", delta: "Well" },
    { type: "tool_input_start", toolCallId: "call_2", toolName: "note" },
    { type: "tool_input_delta", toolCallId: "call_2", toolName: "note", argsTextDelta: "{" },
    { type: "tool_update", ...tool, partialResult: "half" },
    { type: "shell_output", ...tool, output: "a line", stream: "stdout" },
  ].map((event) => ({ ...event, ...where }) as unknown as HarnessEvent);
  const whole = reduceAll(newFolds("thread_a"), durable);
  const parts = live.reduce(reduceParts, whole.parts);
  const { currentMessage, toolInputBuffers, callProgress } = parts;
  assert.ok(currentMessage && toolInputBuffers["call_2"], "all left traces");
  assert.deepEqual(callProgress["call_1"], { partialResult: "half", output: "a line" });
  assert.deepStrictEqual(await parseFolds(await printFolds({ ...whole, parts }, atOnce), atOnce), whole);
});

test("a journal of many pages is folded completely", async () => {
  const events = Array.from({ length: 5_000 }, (_, at) => {
    return { type: "thread_renamed", title: `${at + 1}`, v: 1, seq: at + 1, ...where } as DurableEvent;
  });
  const read: ReadEvents = async ({ after, limit }) => events.slice(after, after + limit);
  const empty = newFolds("thread_a");
  const { state, parts } = await loadFolds(read, { from: empty, empty, upTo: Infinity });
  assert.deepEqual([state.seq, state.title, parts.seq], [5_000, "5000", 5_000]);
});

test("printing and parsing megabytes yields to the event loop", async () => {
  const text = "x".repeat(100_000);
  const said = (seq: number): DurableEvent => ({
    type: "message_end",
    v: 1,
    at: seq,
    seq,
    threadId: "t",
    message: { id: `m${seq}`, role: "user", content: [{ type: "text", text }] },
  });
  const folds = reduceAll(
    newFolds("t"),
    Array.from({ length: 100 }, (_, at) => said(at + 1)),
  );
  let pauses = 0;
  const pause = async () => void pauses++;
  const printed = await printFolds(folds, pause);
  assert.ok(pauses >= 30, `${pauses} pauses for ${printed.length} characters`);
  assert.deepEqual(await parseFolds(printed, pause), folds);
  assert.ok(pauses >= 60);
});

class CountingStore extends MemoryStore {
  /** How many events were read. */
  count = 0;
  override async read(...args: Parameters<MemoryStore["read"]>): ReturnType<MemoryStore["read"]> {
    const events = await super.read(...args);
    this.count += events.length;
    return events;
  }
}

/** A model for any number of turns, each with two steps. */
const talker = (): ScriptedModel =>
  scriptedBy(({ prompt }) => (prompt.at(-1)?.role === "tool" ? say("done") : call("note", { what: "x" })));

async function opened(data: MemoryData, config: Partial<HarnessConfig> & { model?: ScriptedModel } = {}) {
  const { model = talker(), ...more } = config;
  const storage = new CountingStore(data);
  const agent = new Agent({ name: "a", model, instructions: "Test.", tools: { note: noting().note } });
  const h = new Harness({ id: "test", agent, storage, permissions, ...more });
  await h.init();
  const { id } = await h.selectOrCreateThread();
  return { h, id, storage, [Symbol.asyncDispose]: () => h.close() };
}

async function talked(data: MemoryData, turns: number): Promise<string> {
  await using one = await opened(data);
  for (let turn = 0; turn < turns; turn++) await one.h.sendMessage({ content: `turn ${turn}` });
  return one.id;
}

const foldOf = (data: MemoryData, id: string) => data.threads.get(id)!.fold!;

test("opening a thread reads its newest events only, however long it is", async () => {
  const counts: number[] = [];
  for (const turns of [20, 200]) {
    const data = new MemoryData();
    await talked(data, turns);
    await using one = await opened(data);
    assert.ok(one.h.getDisplayState().seq > turns * 5);
    counts.push(one.storage.count);
  }
  assert.deepEqual(counts, [1, 1]);
});

test("the display comes from the saved fold, and the model still gets the whole conversation", async () => {
  const data = new MemoryData();
  const id = await talked(data, 20);
  await using before = await opened(data);
  const shown = before.h.getDisplayState();
  await before.h.close();
  const model = talker();
  await using one = await opened(data, { model });
  assert.deepEqual(one.h.getDisplayState(), shown);
  await one.h.sendMessage({ content: "and now?" });
  const [first] = model.requests;
  const users = first!.prompt.filter(({ role }) => role === "user");
  assert.equal(users.length, 21);
  await one.h.close();
  data.threads.get(id)!.fold = undefined;
  const again = talker();
  await using two = await opened(data, { model: again });
  await two.h.sendMessage({ content: "once more" });
  assert.deepEqual(again.requests[0]!.prompt.slice(0, first!.prompt.length), first!.prompt);
});

const spoils: Record<string, (fold: SavedFold) => SavedFold> = {
  "was folded by other code": (fold) => ({ ...fold, fingerprint: "another" }),
  "is cut off": (fold) => ({ ...fold, body: fold.body.slice(0, -20) }),
  "is empty": (fold) => ({ ...fold, body: "" }),
  "is not ours at all": (fold) => ({ ...fold, body: "null\n[]" }),
  "says that it reaches elsewhere": (fold) => ({ ...fold, seq: fold.seq - 1 }),
  "reaches further than the journal": (fold) => {
    const body = fold.body.replaceAll(`"seq":${fold.seq}`, `"seq":${fold.seq + 1000}`);
    return { ...fold, seq: fold.seq + 1000, body };
  },
};
for (const [what, spoil] of Object.entries(spoils))
  test(`a saved fold that ${what} is discarded`, async () => {
    const data = new MemoryData();
    const id = await talked(data, 20);
    // If the fold were used, this title would be shown.
    const fold = foldOf(data, id);
    const marked = { ...fold, body: fold.body.replaceAll('"title":"turn 0"', '"title":"from the cache"') };
    data.threads.get(id)!.fold = marked;
    await using trusting = await opened(data);
    assert.equal(trusting.h.getDisplayState().title, "from the cache");
    await trusting.h.close();
    data.threads.get(id)!.fold = spoil(marked);
    await using one = await opened(data);
    assert.equal(one.h.getDisplayState().title, "turn 0");
    const { reason } = await one.h.sendMessage({ content: "goes on" });
    assert.equal(reason, "complete");
  });

test("a saved fold is discarded after a rewind to before its last event, and used after any other rewind", async () => {
  for (const isBefore of [true, false]) {
    const data = new MemoryData();
    const id = await talked(data, 20);
    const saved = foldOf(data, id);
    await using one = await opened(data);
    const toSeq = isBefore ? 30 : one.h.getDisplayState().seq + 2;
    await one.h.sendMessage({ content: "more" });
    await one.h.rewind({ toSeq });
    const shown = one.h.getDisplayState();
    await one.h.close();
    data.threads.get(id)!.fold = saved;
    await using two = await opened(data);
    assert.deepEqual(two.h.getDisplayState(), shown);
    assert.equal(two.storage.count < 10, !isBefore);
  }
});

/** Calls back once, after the first read or before the first clone. */
class RacingStore extends CountingStore {
  readonly #race: { after: "read" } | { before: "thread_cloned" };
  readonly #happens: () => Promise<unknown>;
  #isOver = false;
  constructor(
    data: MemoryData,
    race: { after: "read" } | { before: "thread_cloned" },
    happens: () => Promise<unknown>,
  ) {
    super(data);
    this.#race = race;
    this.#happens = happens;
  }
  override async read(...args: Parameters<MemoryStore["read"]>): ReturnType<MemoryStore["read"]> {
    const events = await super.read(...args);
    if ("after" in this.#race) await this.#once();
    return events;
  }
  override async append(...args: Parameters<MemoryStore["append"]>): ReturnType<MemoryStore["append"]> {
    if ("before" in this.#race && args[1][0]?.type === this.#race.before) await this.#once();
    return super.append(...args);
  }
  async #once(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#happens();
  }
}

for (const isSaved of [true, false])
  test(`events that another process rewinds while a thread is opened are not shown, ${isSaved ? "with" : "without"} a saved fold`, async () => {
    const data = new MemoryData();
    const id = await talked(data, isSaved ? 20 : 180);
    if (!isSaved) data.threads.get(id)!.fold = undefined;
    await using other = await opened(data);
    const storage = new RacingStore(data, { after: "read" }, () => other.h.rewind({ toSeq: 30 }));
    await using h = await harness({ model: talker(), storage });
    await h.switchThread({ threadId: id });
    assert.deepEqual(h.getDisplayState(), other.h.getDisplayState());
  });

test("a clone of events that another process rewinds meanwhile is folded from the events that it inherits", async () => {
  const data = new MemoryData();
  const id = await talked(data, 20);
  await using other = await opened(data);
  const storage = new RacingStore(data, { before: "thread_cloned" }, () => other.h.rewind({ toSeq: 30 }));
  await using h = await harness({ model: talker(), storage });
  await h.switchThread({ threadId: id });
  const clone = await h.cloneThread();
  await other.h.switchThread({ threadId: clone.id });
  assert.deepEqual(h.getDisplayState(), other.h.getDisplayState());
  assert.ok(h.getDisplayState().messages.every(({ seq }) => seq <= 30));
});

test("a clone has folds of its own", async () => {
  const data = new MemoryData();
  await using one = await opened(data);
  for (let turn = 0; turn < 20; turn++) await one.h.sendMessage({ content: `turn ${turn}` });
  await one.h.cloneThread({ atSeq: 60 });
  for (let turn = 0; turn < 20; turn++) await one.h.sendMessage({ content: `clone's ${turn}` });
  const shown = one.h.getDisplayState();
  await one.h.close();
  await using two = await opened(data);
  assert.equal(two.id, shown.threadId);
  assert.deepEqual(two.h.getDisplayState(), shown);
  assert.ok(two.storage.count < 10);
});

test("folds are also saved during a long turn, so that the thread opens quickly after a crash", async () => {
  const data = new MemoryData();
  const storage = new CountingStore(data);
  const calls = Array.from({ length: 700 }, () => call("note", { what: "x" }));
  const agent = new Agent({
    name: "a",
    model: script(...calls, hang()),
    maxSteps: 1_000,
    tools: { note: noting().note },
  });
  const h = new Harness({ id: "test", agent, storage, permissions });
  const { id } = await h.selectOrCreateThread();
  await h.post({ content: "go", delivery: "send" });
  while (!data.threads.get(id)?.fold) await new Promise((resolve) => setTimeout(resolve, 10));
  const { seq } = foldOf(data, id);
  storage.die();
  await h.close();
  assert.ok(seq >= 2_000);
  await using two = await opened(data, { onRecover: "pause" });
  assert.ok(two.h.getDisplayState().seq >= seq);
  assert.ok(two.storage.count < two.h.getDisplayState().seq);
});

const refusals = {
  rejects: () => Promise.reject(new Error("no room")),
  throws: () => {
    throw new Error("no room");
  },
};
for (const [how, saveFold] of Object.entries(refusals))
  test(`a store without saved folds, or one that ${how} when it saves one, opens threads as usual`, async () => {
    const data = new MemoryData();
    const storage = new MemoryStore(data);
    const without = Object.assign(storage, { fold: undefined, saveFold });
    for (let time = 0; time < 2; time++) {
      const agent = new Agent({ name: "a", model: talker(), tools: { note: noting().note } });
      const h = new Harness({ id: "test", agent, storage: without, permissions });
      await h.init();
      await h.selectOrCreateThread();
      for (let turn = 0; turn < 12; turn++) assert.equal((await h.sendMessage({ content: "x" })).reason, "complete");
      await h.close();
    }
  });

test("an input id that a caller chose is found for the lifetime of the thread, and the state holds only a few", async () => {
  const data = new MemoryData();
  await using one = await opened(data);
  const first = await one.h.sendMessage({ content: "first", id: "id 0" });
  for (let n = 1; n <= 120; n++) await one.h.post({ content: "more", id: `id ${n}`, delivery: "follow_up" });
  const before = await one.h.listInbox();
  const again = await one.h.sendMessage({ content: "first", id: "id 0" });
  assert.deepEqual(again, first);
  assert.ok((await one.h.listInbox()).length <= before.length);
  await one.h.abort({ inbox: true });
  const kinds = (await one.storage.read(one.id)).filter((event) => event.type === "input_accepted");
  assert.equal(kinds.length, 121);
});

test("an input id that stores can't look up is refused", async () => {
  await using one = await opened(new MemoryData());
  for (const id of ["", "x".repeat(201), "a\0b", "\ud800"])
    await assert.rejects(one.h.post({ content: "x", id, delivery: "send" }), { code: "INVALID_INPUT" });
});
