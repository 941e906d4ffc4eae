import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { newDisplayState, reduceDisplay, type HarnessDisplayState, type HarnessEvent } from "@cinch/core";
import { beginTurn } from "../../src/turn/decide.ts";
import { reduceDisplayAll } from "../../src/folds/display.ts";
import { newThreadState, reduceInbox, reduceThread, stamp, type NewEvent } from "@cinch/core/journal";

/** Events of a thread, each with its time. */
function journal(...events: readonly (readonly [at: number, event: NewEvent])[]): HarnessEvent[] {
  const created = stamp({ type: "thread_created", title: "", resourceId: "r" }, 0);
  const rest = events.map(([at, event]) => stamp(event, at));
  return [created, ...rest].map((event, at) => ({ ...event, seq: at + 1, threadId: "t" })) as HarnessEvent[];
}

const fold = (events: readonly HarnessEvent[]): HarnessDisplayState =>
  events.reduce(reduceDisplay, newDisplayState("t"));
const input = (inputId: string, dueAt?: number): NewEvent => ({
  type: "input_accepted",
  inputId,
  delivery: "follow_up",
  content: inputId,
  ...(dueAt === undefined ? {} : { dueAt }),
});
const start: NewEvent = { type: "agent_start", turnId: "1", modeId: "m", modelId: "x", resumed: false };
const abort: NewEvent = { type: "abort_requested", turnId: "1" };
const aborted: NewEvent = { type: "agent_end", turnId: "1", reason: "aborted", held: true };
const shown = ({ inbox, status, flags }: HarnessDisplayState) => [
  inbox.map(({ inputId, dueAt }) => `${inputId} ${dueAt ?? "now"}`).join(", "),
  status,
  flags.held,
];

test("an input is scheduled until an event at its time or later", () => {
  const events = journal([10, input("later", 100)], [99, { type: "thread_renamed", title: "a" }]);
  assert.deepEqual(shown(fold(events)), ["later 100", "idle", false]);
  const after = journal([10, input("later", 100)], [100, { type: "thread_renamed", title: "a" }]);
  assert.deepEqual(shown(fold(after)), ["later now", "running", false]);
});

test("no turn begins for an input that is not due, not even if a person resumes the thread", () => {
  const events = journal([10, input("later", 100)]) as Parameters<typeof reduceThread>[1][];
  const state = events.reduce(reduceThread, newThreadState);
  const mode = { modeId: "m", modelId: "x" };
  for (const force of [false, true]) assert.equal(beginTurn(state, mode, { ids: (kind) => kind, force }), null);
});

test("a scheduled input does not end the hold of an abort when it is accepted", () => {
  const events = journal([1, start], [2, input("queued")], [3, abort], [4, aborted], [5, input("later", 100)]);
  assert.deepEqual(shown(fold(events)), ["queued now, later 100", "idle", true]);
});

test("an input that becomes due between an abort and the end of its turn is not held back", () => {
  const events = journal([1, start], [2, input("queued")], [3, input("later", 5)], [4, abort], [6, aborted]);
  assert.deepEqual(shown(fold(events)), ["queued now, later now", "running", false]);
});

test("an inbox of any times is in the order in which it is taken, however it is folded", () => {
  const accepted = fc.record({ at: fc.nat(50), in: fc.option(fc.integer({ min: -5, max: 100 }), { nil: undefined }) });
  fc.assert(
    fc.property(fc.array(accepted, { maxLength: 40 }), fc.nat(200), (inputs, end) => {
      const times = inputs.map(({ at }) => at).toSorted((a, b) => a - b);
      const events = inputs.map(
        (one, index) =>
          [times[index]!, input(`${index}`, one.in === undefined ? undefined : times[index]! + one.in)] as const,
      );
      const all = journal(...events, [Math.max(end, times.at(-1) ?? 0), { type: "thread_renamed", title: "end" }]);
      const display = fold(all);
      const keys = display.inbox.map(({ dueAt, inputId }) => {
        const given = events[Number(inputId)]![1] as { dueAt?: number };
        const at = events[Number(inputId)]![0];
        const time = Math.max(at, given.dueAt ?? at);
        return { dueAt, time, now: all.at(-1)!.at };
      });
      for (const { dueAt, time, now } of keys) assert.equal(dueAt, time > now ? time : null);
      assert.deepEqual(
        keys.map(({ time }) => time),
        keys.map(({ time }) => time).toSorted((a, b) => a - b),
      );
      assert.deepEqual(reduceDisplayAll(newDisplayState("t"), all), display);
      const sent = JSON.parse(JSON.stringify(fold(all.slice(0, -1)))) as HarnessDisplayState;
      assert.deepEqual(reduceDisplay(sent, all.at(-1)!).inbox, display.inbox);
      const state = (all as Parameters<typeof reduceThread>[1][]).reduce(reduceThread, newThreadState);
      assert.deepEqual(state.inbox, display.inbox);
      const inbox = (all as Parameters<typeof reduceInbox>[1][]).reduce(reduceInbox, []);
      assert.deepEqual(inbox, display.inbox);
    }),
  );
});
