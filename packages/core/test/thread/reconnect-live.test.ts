import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Agent,
  defineTool,
  Harness,
  memoryStore,
  newDisplayState,
  reduceDisplay,
  type HarnessDisplayState,
  type HarnessEvent,
  type ToolSet,
} from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { call, finish, say, script, type Step } from "@cinch/testkit";
import * as z from "zod";
import { displayAt, isDurable, settled, talk, talker, until } from "./reconnect-talk.ts";
import { permissions } from "../support.ts";

function harnessOf(steps: Step[], tools: ToolSet = {}) {
  const storage = memoryStore();
  const made = new Harness({
    id: "test",
    storage,
    permissions,
    agent: new Agent({ name: "a", model: script(...steps), tools }),
  });
  return Object.assign(made, { storage, [Symbol.asyncDispose]: () => made.close() });
}

/** The display of a client that connects now, after it has folded the journal up to `since`. */
async function shownSince(harness: ReturnType<typeof harnessOf>, since: number): Promise<HarnessDisplayState> {
  const got: HarnessEvent[] = [];
  const off = harness.subscribe((event) => got.push(event), { since });
  await settled();
  off();
  const id = harness.getCurrentThreadId()!;
  return got.reduce(reduceDisplay, displayAt(id, await harness.storage.read(id), since));
}

async function assertSameForAll(harness: ReturnType<typeof harnessOf>): Promise<void> {
  for (let since = 0; since <= harness.getDisplayState().seq; since++)
    assert.deepEqual(await shownSince(harness, since), harness.getDisplayState(), `since ${since}`);
}

test("a client that connects during an answer shows the text so far, and then the rest", async () => {
  const gate = Promise.withResolvers<void>();
  const slow: Step = async function* () {
    yield { type: "reasoning-start", id: "r" };
    yield { type: "reasoning-end", id: "r", providerMetadata: { some: { redacted: "thought" } } };
    yield { type: "reasoning-start", id: "r2" };
    yield { type: "reasoning-delta", id: "r2", delta: "Hm" };
    yield { type: "text-start", id: "t" };
    yield { type: "text-delta", id: "t", delta: "Half" };
    yield { type: "tool-input-start", id: "c", toolName: "none" };
    yield { type: "tool-input-delta", id: "c", delta: '{"a":' };
    await gate.promise;
    yield { type: "text-delta", id: "t", delta: " and half." };
    yield finish("stop");
  };
  await using harness = harnessOf([slow]);
  const turn = harness.sendMessage({ content: "Begin." });
  await until(() => harness.getDisplayState().toolInputBuffers["c"]?.text === '{"a":');
  const { currentMessage, toolInputBuffers } = harness.getDisplayState();
  assert.deepEqual(currentMessage?.content, [
    { type: "reasoning", text: "Hm" },
    { type: "text", text: "Half" },
  ]);
  assert.deepEqual(toolInputBuffers, { c: { toolName: "none", text: '{"a":' } });
  await assertSameForAll(harness);
  const late: HarnessEvent[] = [];
  harness.subscribe((event) => late.push(event), { since: 0 });
  gate.resolve();
  await turn;
  await settled();
  const updates = late.flatMap((event) => (event.type === "message_update" ? [event.message.content] : []));
  assert.deepEqual(updates.at(-1)?.at(-1), { type: "text", text: "Half and half." });
  assert.deepEqual(
    late.reduce(reduceDisplay, newDisplayState(harness.getCurrentThreadId())),
    harness.getDisplayState(),
  );
});

test("a client that connects while a tool runs shows the progress of the tool", async () => {
  const gate = Promise.withResolvers<void>();
  const dig = defineTool({
    description: "Digs",
    input: z.object({}),
    execute: async (_, { emit, files }) => {
      emit({ depth: 3 });
      files.print("Digging.\n", "stdout");
      await gate.promise;
      return "deep";
    },
  });
  await using harness = harnessOf([call("dig"), say("Done.")], { dig });
  const turn = harness.sendMessage({ content: "Begin." });
  await until(() => Object.values(harness.getDisplayState().activeTools).some((tool) => tool.output !== ""));
  try {
    await assertSameForAll(harness);
  } finally {
    gate.resolve();
    await turn;
  }
});

test("a client that connects while a call waits for a person shows the question", async () => {
  const ask = defineTool({ description: "Asks", input: z.object({}), execute: (_, { suspend }) => suspend("Which?") });
  await using harness = harnessOf([call("ask", {}, "c1")], { ask });
  const turn = harness.sendMessage({ content: "Begin." });
  await until(() => harness.getDisplayState().status === "waiting");
  await assertSameForAll(harness);
  await harness.abort();
  assert.equal((await turn).reason, "aborted");
});

test("a reader that is too slow gets a resync, and ends with the same display state as the others", async () => {
  await using harness = harnessOf([say("x".repeat(12_000), { size: 1 }), say("Second.")]);
  await harness.createThread();
  const stop = new AbortController();
  const reader = harness.events({ since: 0, signal: stop.signal });
  const got = [(await reader.next()).value as HarnessEvent];
  await harness.sendMessage({ content: "Much, please." });
  await harness.sendMessage({ content: "A little." });
  await settled();
  stop.abort();
  for await (const event of reader) got.push(event);
  assert.deepEqual(
    got.slice(0, 2).map((event) => event.type),
    ["thread_created", "resync"],
  );
  assert.ok(got.length < 12_000, `${got.length} events were kept for it`);
  const shown = got.reduce(reduceDisplay, newDisplayState(harness.getCurrentThreadId()));
  assert.deepEqual(shown, harness.getDisplayState());
});

test("a reader that falls behind and reconnects during a turn continues from the state of its resync", async () => {
  const gate = Promise.withResolvers<void>();
  const chatty: Step = async function* () {
    yield { type: "text-start", id: "t" };
    for (let n = 0; n < 11_000; n++) yield { type: "text-delta", id: "t", delta: "x" };
    await gate.promise;
    for (let n = 0; n < 50; n++) yield { type: "text-delta", id: "t", delta: "y" };
    yield finish("stop");
  };
  await using harness = harnessOf([chatty]);
  await harness.createThread({ title: "Much" });
  const stop = new AbortController();
  const reader = harness.events({ signal: stop.signal });
  const first = reader.next();
  const turn = harness.sendMessage({ content: "Much, please." });
  await first;
  await until(() => (JSON.stringify(harness.getDisplayState().currentMessage) ?? "").length > 11_000);
  const got: HarnessEvent[] = [];
  const reading = (async () => {
    for await (const event of reader) got.push(event);
  })();
  await settled();
  gate.resolve();
  await turn;
  await settled();
  stop.abort();
  await reading;
  assert.equal(got[0]?.type, "resync");
  assert.equal(got.filter((event) => event.type === "message_update").length, 50);
  assert.deepEqual(got.reduce(reduceDisplay, newDisplayState(null)), harness.getDisplayState());
});

test("a session in another process gets every durable event once, in order, and ends with the same display state", async () => {
  const data = new MemoryData();
  await using here = talker(memoryStore(data));
  await using there = talker(memoryStore(data));
  const { id } = await here.createThread();
  const session = await there.createSession({ threadId: id });
  const [mine, theirs]: HarnessEvent[][] = [[], []];
  here.subscribe((event) => mine!.push(event));
  session.subscribe((event) => theirs!.push(event));
  await talk(here);
  await settled();
  assert.deepEqual(theirs!.filter(isDurable), mine!.filter(isDurable));
  assert.deepEqual(session.getDisplayState(), here.getDisplayState());
});
