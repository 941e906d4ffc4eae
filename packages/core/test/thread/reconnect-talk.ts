import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import {
  Agent,
  defineTool,
  Harness,
  memoryStore,
  newDisplayState,
  reduceDisplay,
  type DurableEvent,
  type HarnessDisplayState,
  type HarnessEvent,
  type Session,
  type Store,
} from "@cinch/core";
import { call, finish, say, script, type Step } from "@cinch/testkit";
import * as z from "zod";
import { permissions } from "../support.ts";

/** Reasoning, a text and two calls with their arguments, in small deltas. */
const busy: Step = async function* () {
  const stream: LanguageModelV4StreamPart[] = [
    { type: "reasoning-start", id: "r" },
    ...["I ", "think"].map((delta) => ({ type: "reasoning-delta" as const, id: "r", delta })),
    { type: "reasoning-end", id: "r" },
    { type: "text-start", id: "t" },
    ...["Let ", "me ", "ask."].map((delta) => ({ type: "text-delta" as const, id: "t", delta })),
    { type: "text-end", id: "t" },
    { type: "tool-input-start", id: "c1", toolName: "add" },
    ...['{"a":', "1}"].map((delta) => ({ type: "tool-input-delta" as const, id: "c1", delta })),
    { type: "tool-input-end", id: "c1" },
    { type: "tool-call", toolCallId: "c1", toolName: "add", input: '{"a":1}' },
    { type: "tool-call", toolCallId: "c2", toolName: "ask", input: "{}" },
    finish("tool-calls"),
  ];
  for (const part of stream) {
    await new Promise((resolve) => setImmediate(resolve));
    yield part;
  }
};

const add = defineTool({
  description: "Adds one",
  input: z.object({ a: z.number() }),
  execute: async ({ a }, { emit }) => {
    emit({ halfway: a });
    await new Promise((resolve) => setImmediate(resolve));
    return `${a + 1}`;
  },
});

const ask = defineTool({
  description: "Asks a person",
  effect: "pure",
  input: z.object({}),
  execute: (_, { suspend, resumed }) =>
    resumed ? `they said ${String(resumed.data)}` : suspend({ question: "Which?" }),
});

/** A harness whose model reasons, answers, calls two tools, one of which waits for a person, and answers again. */
export function talker(storage: Store = memoryStore()): Harness & AsyncDisposable {
  const model = script(busy, call("add", { a: 5 }), say("All done, at last."), say("And again."));
  const harness = new Harness({
    id: "test",
    storage,
    permissions,
    agent: new Agent({ name: "a", model, tools: { add, ask } }),
  });
  return Object.assign(harness, { [Symbol.asyncDispose]: () => harness.close() });
}

/** Two turns with many kinds of events. Settles when both have ended. */
export async function talk(
  session: Pick<Session, "subscribe" | "sendMessage" | "renameThread" | "steer" | "respondToToolSuspension">,
) {
  const off = session.subscribe((event) => {
    if (event.type === "tool_suspended") suspended.resolve();
  });
  const suspended = Promise.withResolvers<void>();
  const turn = session.sendMessage({ content: "Begin." });
  await suspended.promise;
  await session.renameThread({ title: "Named in passing" });
  await session.steer({ content: "And mind the time." });
  await session.respondToToolSuspension({ resumeData: "this one" });
  await turn;
  await session.sendMessage({ content: "Once more." });
  off();
}

export const isDurable = (event: HarnessEvent): event is HarnessEvent & DurableEvent => "v" in event;

/** The display of a client that has folded the journal up to `seq`. */
export function displayAt(threadId: string, events: readonly DurableEvent[], seq: number): HarnessDisplayState {
  const past = events.filter((event) => event.seq <= seq) as HarnessEvent[];
  return past.reduce(reduceDisplay, newDisplayState(threadId));
}

export const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

/** Polls until the condition holds. If it never does, the test times out. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await settled();
}
