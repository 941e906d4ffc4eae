import assert from "node:assert/strict";
import { test } from "node:test";
import { verifyEvents } from "@ag-ui/client";
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { Agent, Harness, memoryStore, type HarnessEvent, type Part } from "@cinch/core";
import { finish, script, type Step } from "@cinch/testkit";
import * as fc from "fast-check";
import { from, lastValueFrom, toArray } from "rxjs";
import { foldUpdates, newAcpState } from "../../../../apps/cli/src/acp/acp-fold.ts";
import type { AguiEvent } from "../../src/adapters/ag-ui/agui-event.ts";
import { foldRun } from "../../src/adapters/ag-ui/run-fold.ts";
import { newRunState } from "../../src/adapters/ag-ui/run-state.ts";
import { foldChunks } from "../../src/adapters/ai-sdk/chunk-fold.ts";
import { newChunkState } from "../../src/adapters/ai-sdk/chunk-state.ts";
import type { UiChunk } from "../../src/adapters/ai-sdk/ui-chunk.ts";
import { CLIENTS, type AnyMessage } from "./ai-sdk/chat-client.ts";

type Shown = [type: string, text: string];
type Fold<S, P> = (state: S, event: HarnessEvent) => readonly [S, readonly P[]];

interface Block {
  part: "text" | "reasoning";
  deltas: string[];
  /** Such as reasoning that only its provider can read. */
  secret: "start" | "end" | null;
}

const block: fc.Arbitrary<Block> = fc.record({
  part: fc.constantFrom("text", "reasoning"),
  deltas: fc.array(fc.constantFrom("", "a", "bc", "\ud83d", "\n"), { maxLength: 3 }),
  secret: fc.constantFrom("start", "end", null),
});

const partsOf = ({ part, deltas, secret }: Block, id: string): LanguageModelV4StreamPart[] => {
  const meta = (place: string) => (place === secret ? { providerMetadata: { p: { secret: `of ${id}` } } } : {});
  return [
    { type: `${part}-start`, id, ...meta("start") },
    ...deltas.map((delta, n): LanguageModelV4StreamPart => ({
      type: `${part}-delta`,
      id,
      delta: delta && `${id}.${n}${delta}`,
    })),
    { type: `${part}-end`, id, ...meta("end") },
  ];
};

/** The parts of all blocks. `order` says of which block the next part is. */
function interleaved(blocks: readonly Block[], order: readonly number[]): LanguageModelV4StreamPart[] {
  const rest = blocks.map((one, n) => partsOf(one, `b${n}`));
  const stream: LanguageModelV4StreamPart[] = [];
  for (const n of order) stream.push(...rest[n % rest.length]!.splice(0, 1));
  return [...stream, ...rest.flat()];
}

/** The events of a turn in which the model answers with `stream`. `isCut`: it is aborted before the end of the answer. */
async function eventsOf(stream: readonly LanguageModelV4StreamPart[], isCut: boolean): Promise<HarnessEvent[]> {
  const streamed = Promise.withResolvers<void>();
  const answer: Step = async function* ({ abortSignal }) {
    yield* stream;
    streamed.resolve();
    if (isCut) await new Promise((resolve) => abortSignal?.addEventListener("abort", resolve));
    // An answer without a word is asked for again.
    yield* [
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "Done" },
    ] as const;
    yield finish("stop");
  };
  const agent = new Agent({ name: "tester", model: script(answer), instructions: "" });
  const harness = new Harness({ id: "test", agent, storage: memoryStore() });
  await harness.init();
  const session = await harness.createSession();
  await session.createThread();
  const events: HarnessEvent[] = [];
  session.subscribe((event) => events.push(event));
  const turn = session.sendMessage({ content: "go" });
  await streamed.promise;
  if (isCut) await session.abort();
  await turn;
  await harness.close();
  return events.slice(events.findIndex(({ type }) => type === "agent_start"));
}

function folded<S, P>(fold: Fold<S, P>, start: S, events: readonly HarnessEvent[]): P[] {
  let state = start;
  return events.flatMap((event) => {
    const [next, parts] = fold(state, event);
    state = next;
    return parts;
  });
}

const isText = (part: { type: string }): boolean => part.type === "text" || part.type === "reasoning";

/** What a client of the SDK shows. It rejects for a stream that the client refuses. */
async function shownBySdk(chunks: readonly UiChunk[], readMessages: (typeof CLIENTS)[number]["readMessages"]) {
  const stream = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const problems: unknown[] = [];
  let last: AnyMessage | undefined;
  for await (const message of readMessages({ stream: stream as never, onError: (error) => problems.push(error) }))
    last = message as unknown as AnyMessage;
  assert.deepEqual(problems, []);
  const parts = last?.parts.filter(isText) ?? [];
  assert.ok(parts.every(({ state }) => state === "done"));
  return parts.map((part): Shown => [part.type, part["text"] as string]);
}

/** What a client of AG-UI shows. It rejects for events that `verifyEvents` refuses. */
async function shownByAgui(events: readonly AguiEvent[]): Promise<Shown[]> {
  await lastValueFrom(from(events).pipe(verifyEvents() as never, toArray()));
  const shown = new Map<string, Shown>();
  for (const event of events) {
    if (event.type === "TEXT_MESSAGE_START") shown.set(event.messageId, ["text", ""]);
    if (event.type === "REASONING_MESSAGE_START") shown.set(event.messageId, ["reasoning", ""]);
    if (event.type === "TEXT_MESSAGE_CONTENT" || event.type === "REASONING_MESSAGE_CONTENT")
      shown.get(event.messageId)![1] += event.delta;
  }
  return [...shown.values()];
}

/** An editor appends what it gets, so the characters of each kind are compared. */
const joined = (shown: readonly Shown[]): string[] =>
  ["text", "reasoning"].map((type) =>
    shown
      .flatMap(([of, text]) => (of === type ? [...text] : []))
      .toSorted()
      .join(""),
  );

test("however the blocks of an answer stream, the clients of other protocols show each text once", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(block, { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat(3), { maxLength: 16 }),
      fc.boolean(),
      async (blocks, order, isCut) => {
        const events = await eventsOf(interleaved(blocks, order), isCut);
        const end = events.find((event) => event.type === "message_end" && event.message.role === "assistant");
        const content = end?.type === "message_end" ? end.message.content : [];
        const texts = content.flatMap((part): Shown[] => ("text" in part && part.text ? [[part.type, part.text]] : []));
        const turnId = events.find((event) => event.type === "agent_start")!.turnId!;
        for (const { version, readMessages } of CLIENTS) {
          const chunks = folded(foldChunks, newChunkState({ turnId, version, threadId: "t" }), events);
          assert.deepEqual(
            (await shownBySdk(chunks, readMessages)).map(wellFormed),
            texts.map(wellFormed),
            `SDK ${version}`,
          );
        }
        const run = folded(foldRun, newRunState({ threadId: "t", runId: "r", turnId, messages: [] }), events);
        assert.deepEqual((await shownByAgui(run)).map(wellFormed), texts.map(wellFormed), "AG-UI");
        const updates = folded(foldUpdates, newAcpState({ root: "/", window: 1 }), events);
        const inEditor = updates.flatMap((update): Shown[] => {
          if (!("content" in update) || !update.content || !("text" in update.content)) return [];
          if (update.sessionUpdate === "agent_message_chunk") return [["text", update.content.text]];
          return update.sessionUpdate === "agent_thought_chunk" ? [["reasoning", update.content.text]] : [];
        });
        assert.deepEqual(joined(inEditor.map(wellFormed)), joined(texts.map(wellFormed)), "ACP");
        if (!isCut) assert.deepEqual(secretsIn(content), secretsOf(blocks));
      },
    ),
    { numRuns: 150 },
  );
});

test("a text that streamed and that the message lacks is ended: a draft of a dead driver may lack the last", async () => {
  const blocks: Block[] = [
    { part: "reasoning", deltas: ["a"], secret: null },
    { part: "text", deltas: ["bc"], secret: null },
  ];
  const whole = await eventsOf(interleaved(blocks, []), true);
  const events = whole.map((event): HarnessEvent => {
    if (event.type !== "message_end" || event.message.role !== "assistant") return event;
    const content = event.message.content.slice(0, 1);
    return { ...event, message: { ...event.message, content } };
  });
  const turnId = events[0]!.turnId!;
  const shown: Shown[] = [
    ["reasoning", "b0.0a"],
    ["text", "b1.0bc"],
  ];
  for (const { version, readMessages } of CLIENTS) {
    const chunks = folded(foldChunks, newChunkState({ turnId, version, threadId: "t" }), events);
    assert.deepEqual(await shownBySdk(chunks, readMessages), shown);
  }
  const run = folded(foldRun, newRunState({ threadId: "t", runId: "r", turnId, messages: [] }), events);
  assert.deepEqual(await shownByAgui(run), shown);
});

test("an answer that is discarded after a block without text and a text ends the text that has streamed", () => {
  const of = { turnId: "t1", threadId: "t", at: 0, messageId: "m1", role: "assistant" };
  const events = [
    { ...of, type: "agent_start", seq: 1, v: 1, modeId: "default", modelId: "m", resumed: false },
    ...["Half", " an answer"].map((delta) => ({ ...of, type: "message_update", index: 1, part: "text", delta })),
    { ...of, type: "message_discarded", reason: "empty" },
  ] as unknown as HarnessEvent[];
  const chunks = folded(foldChunks, newChunkState({ turnId: "t1", version: 6, threadId: "t" }), events);
  assert.deepEqual(
    chunks.filter(({ type }) => type === "text-end"),
    [{ type: "text-end", id: "m1.1" }],
  );
  const run = folded(foldRun, newRunState({ threadId: "t", runId: "r", turnId: "t1", messages: [] }), events);
  assert.equal(run.filter(({ type }) => type === "TEXT_MESSAGE_END").length, 1);
});

const wellFormed = ([type, text]: Shown): Shown => [type, text.toWellFormed()];

/** What goes back to the provider: of all reasoning, and of the texts that are not empty. */
const secretsOf = (blocks: readonly Block[]): string[] =>
  blocks.flatMap(({ part, deltas, secret }, n) =>
    secret && (part === "reasoning" || deltas.join("") !== "") ? [`of b${n}`] : [],
  );

const secretsIn = (content: readonly Part[]): string[] =>
  content
    .flatMap((part) => {
      const { p } = (("providerMetadata" in part && part.providerMetadata) || {}) as { p?: { secret: string } };
      return p ? [p.secret] : [];
    })
    .toSorted();
