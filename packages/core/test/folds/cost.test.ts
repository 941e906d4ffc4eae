/** A fold must cost the same at the ten-thousandth event as at the first, for every field that grows. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  emptyTranscript,
  newThreadState,
  reduceThread,
  reduceTranscript,
  stamp,
  type NewEvent,
} from "@cinch/core/journal";
import { newDisplayState, reduceDisplay, type DurableEvent, type HarnessEvent } from "@cinch/core";
import { reduceDisplayAll } from "../../src/folds/display.ts";
import { reduceThreadAll } from "../../src/folds/state.ts";

const turnId = "turn";
const version = { hash: "h", size: 1 };
const call = (n: number) => ({ turnId, toolCallId: `call_${n}`, toolName: "note" });
const said = (id: string, role: "user" | "assistant") => ({
  id,
  role,
  content: [{ type: "text" as const, text: "x" }],
});
const usage = { inputTokens: 1, outputTokens: 1, reasoningTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

const begin: NewEvent[] = [
  { type: "thread_created", title: "", resourceId: "default" },
  { type: "agent_start", turnId, modeId: "m", modelId: "p/m", resumed: false },
];

/** The nth event of a journal that repeats one kind of event. */
const growing: Record<string, (n: number) => NewEvent[]> = {
  "messages of a person": (n) => [{ type: "message_end", turnId, message: said(`m${n}`, "user") }],
  "messages of the model": (n) => [{ type: "message_end", turnId, message: said(`m${n}`, "assistant") }],
  "inputs that are taken, with ids of their own": (n) => [
    { type: "input_accepted", inputId: `i${n}`, delivery: "steer", content: "x", named: true },
    { type: "input_taken", turnId, inputId: `i${n}` },
  ],
  "files that are read": (n) => [
    {
      type: "tool_end",
      ...call(n),
      result: { content: "" },
      isError: false,
      durationMs: 1,
      reads: { [`/f${n}`]: "v" },
    },
  ],
  "files that are written": (n) => [
    { type: "file_changed", turnId, path: `/f${n}`, operation: "write", before: null, after: version, version: "v" },
  ],
  "files that live in the journal": (n) => [
    { type: "file_changed", turnId, path: `/f${n}`, operation: "write", before: null, after: version, held: true },
  ],
  "files that live in the journal, and go": (n) => [
    { type: "file_changed", turnId, path: `/f${n}`, operation: "write", before: null, after: version, held: true },
    { type: "file_changed", turnId, path: `/f${n - 1}`, operation: "delete", before: version, after: null, held: true },
  ],
  "values of the state": (n) => [{ type: "state_changed", updates: { [`key${n}`]: n } }],
  "calls, each with its answer": (n) => [
    {
      type: "message_end",
      turnId,
      message: {
        id: `m${n}`,
        role: "assistant",
        content: [{ type: "tool-call", toolCallId: `call_${n}`, toolName: "note", input: {} }],
      },
    },
    { type: "tool_start", ...call(n), args: {}, key: `k${n}`, effect: "once" },
    { type: "tool_end", ...call(n), result: { content: "ok" }, isError: false, durationMs: 1 },
  ],
  "commands with snapshots": (n) => [
    { type: "checkpoint_created", turnId, reason: "command", call: `call_${n}`, tree: `t${n}` },
    { type: "tool_end", ...call(n), result: { content: "ok" }, isError: false, durationMs: 1 },
  ],
  "offloaded results": (n) => [
    { type: "context_offloaded", ...call(n), path: `/.cinch/context/${n}`, blob: `b${n}`, chars: 1, bytes: 1 },
    { type: "tool_end", ...call(n), result: { content: "ok" }, isError: false, durationMs: 1 },
  ],
  "observations that threads share": (n) => [
    {
      type: "om_observation_end",
      of: `t${n}`,
      range: [1, 2],
      blob: `b${n}`,
      tokens: 1,
      modelId: "",
      usage,
      cost: null,
      cutSeq: 0,
    },
  ],
  "observations that are activated and summarised": (n) => {
    const seq = begin.length + 4 * n + 1;
    const left = { bodyTokens: 0, by: "p", kept: [], keptTokens: 0 };
    const made = { range: [seq, seq] as [number, number], blob: `b${n}`, tokens: 1 };
    return [
      { type: "message_end", turnId, message: said(`m${n}`, "assistant") },
      { type: "om_observation_end", ...made, modelId: "", usage, cost: null, cutSeq: 0, currentTask: "x" },
      { type: "om_activation", turnId, range: made.range, ...left, reason: "threshold" },
      { type: "context_summarised", turnId, ...left, ...made, range: [1, seq], reason: "window" },
    ];
  },
  usage: () => [{ type: "usage_update", turnId, usage, cost: 1, cachedShare: 0 }],
  "task lists": (n) => [
    { type: "task_updated", turnId, tasks: [{ id: `${n}`, content: "x", status: "pending", activeForm: "x" }] },
  ],
};

const run = (n: number) => ({
  ...call(n),
  runId: `t:${n}`,
  agentName: "explore",
  childThreadId: `sub_${n}`,
  path: ["explore"],
});
const started = (n: number): NewEvent => ({
  type: "subagent_start",
  ...run(n),
  task: "Look",
  forked: false,
  session: "new",
  modeId: "m",
  depth: 0,
  background: { agentId: `bg-${n}`, wake: true },
});
const ended = (n: number): NewEvent[] => {
  const how = { result: { content: "ok" }, isError: false, status: "complete" as const };
  const { runId, childThreadId } = run(n);
  return [
    { type: "subagent_end", ...run(n), ...how, durationMs: 1, usage, cost: 1 },
    { type: "background_settled", agentId: `bg-${n}`, runId, childThreadId, status: "complete" },
  ];
};
growing["subagents that do not end"] = (n) => [started(n)];
growing["subagents that end"] = (n) => [started(n), ...ended(n)];
growing["subagents that end late"] = (n) => (n < 100 ? [started(n)] : [started(n), ...ended(n - 100)]);

function journalOf(nth: (n: number) => NewEvent[], count: number): DurableEvent[] {
  const events = [...begin, ...Array.from({ length: count }, (_, n) => nth(n)).flat()];
  return events.map((event, at) => ({ ...stamp(event, at), seq: at + 1, threadId: "t" }) as DurableEvent);
}

/** Wraps a value to count how often properties are read, at any depth. */
function counted<T extends object>(value: T): { value: T; steps(): number } {
  let steps = 0;
  const proxies = new WeakMap<object, object>();
  const wrap = (target: object): object => {
    const known = proxies.get(target);
    if (known) return known;
    const proxy = new Proxy(target, {
      get(from, key, receiver) {
        steps++;
        const found: unknown = Reflect.get(from, key, receiver);
        return typeof found === "object" && found !== null ? wrap(found) : found;
      },
      ownKeys(from) {
        const keys = Reflect.ownKeys(from);
        steps += keys.length;
        return keys;
      },
    });
    proxies.set(target, proxy);
    return proxy;
  };
  return { value: wrap(value) as T, steps: () => steps };
}

const SMALL = 200;
const LARGE = 3_200;

for (const [what, nth] of Object.entries(growing)) {
  const stepsAfter = (count: number): Record<string, number> => {
    const events = journalOf(nth, count);
    const last = nth(count).length;
    const [past, next] = [events.slice(0, -last), events.slice(-last)];
    const state = counted(reduceThreadAll(newThreadState, past));
    next.reduce(reduceThread, state.value);
    const display = counted(reduceDisplayAll(newDisplayState("t"), past as HarnessEvent[]));
    (next as HarnessEvent[]).reduce(reduceDisplay, display.value);
    const transcript = counted(past.reduce(reduceTranscript, emptyTranscript));
    next.reduce(reduceTranscript, transcript.value);
    return { state: state.steps(), display: display.steps(), transcript: transcript.steps() };
  };

  test(`folding ${what} takes as many steps at the ${LARGE}th as at the ${SMALL}th`, () => {
    const [few, many] = [stepsAfter(SMALL), stepsAfter(LARGE)];
    // One more level of a trie: a node of 16 kids and its fields.
    for (const [fold, steps] of Object.entries(many))
      assert.ok(steps <= few[fold]! * 1.5 + 100, `${fold}: ${steps} steps at ${LARGE}, ${few[fold]} at ${SMALL}`);
  });
}
