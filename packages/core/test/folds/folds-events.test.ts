import assert from "node:assert/strict";
import { test } from "node:test";
import {
  durableTypes,
  emptyTranscript,
  eventMap,
  isForeign,
  lift,
  newThreadState,
  reduceThread,
  reduceTranscript,
  stamp,
  type EventEntry,
  type NewEvent,
} from "@cinch/core/journal";
import { needsLease } from "@cinch/core/store";
import { newDisplayState, reduceDisplay, type DurableEvent, type HarnessEvent } from "@cinch/core";
import * as fc from "fast-check";
import { journals } from "../../../testkit/src/journal.ts";
import { VERSIONS } from "../../src/events/versions.ts";

/** An event of a later release: an unknown type, or a known type with a newer version and any fields. */
const later = fc.oneof(
  fc.constant({ type: "telepathy_received", v: 1 }),
  fc.record({ type: fc.constantFrom(...durableTypes), v: fc.constant(99) }),
);

test("the display skips events of a later release, and the driver stops at them", () => {
  fc.assert(
    fc.property(journals, later, fc.nat(), (events, foreign, place) => {
      const at = 1 + (place % events.length);
      const before = events.slice(0, at);
      const seq = before.at(-1)!.seq + 1;
      const event = { ...foreign, at: 1, seq, threadId: "thread_a" } as DurableEvent;
      const display = before.reduce((state, past) => reduceDisplay(state, past as HarnessEvent), newDisplayState("t"));
      assert.deepEqual(reduceDisplay(display, event as HarnessEvent), { ...display, seq });
      const state = before.reduce(reduceThread, newThreadState);
      const stopped = { ...state, seq, foreign: { ...foreign, seq } };
      assert.deepEqual(reduceThread(state, event), stopped);
      assert.deepEqual(reduceThread(stopped, { ...event, seq: seq + 1 }), { ...stopped, seq: seq + 1 });
      const transcript = before.reduce(reduceTranscript, emptyTranscript);
      assert.deepEqual(reduceTranscript(transcript, event), transcript);
    }),
    { numRuns: 200 },
  );
});

test("the generated journals contain events of every type", () => {
  const seen = new Set(
    fc.sample(journals, { numRuns: 300, seed: 1 }).flatMap((events) => events.map(({ type }) => type)),
  );
  assert.deepEqual(
    durableTypes.filter((type) => !seen.has(type)),
    [],
  );
});

test("an old event is lifted version by version", () => {
  const schema = eventMap.thread_renamed.schema;
  const map: Record<string, EventEntry> = {
    greeted: {
      by: "driver",
      schema,
      v: 3,
      lifts: [
        ({ name, ...rest }) => ({ ...rest, names: [name] }),
        ({ names, ...rest }) => ({ ...rest, people: (names as string[]).map((name) => ({ name })) }),
      ],
    },
  };
  const greeted = { type: "greeted", seq: 7, threadId: "t", at: 1 };
  const now = { ...greeted, v: 3, people: [{ name: "Ada" }] };
  assert.deepEqual(lift({ ...greeted, v: 1, name: "Ada" }, map), now);
  assert.deepEqual(lift({ ...greeted, v: 2, names: ["Ada"] }, map), now);
  assert.deepEqual(lift({ ...now }, map), now);
});

test("lift does not modify its argument, and returns an unknown event unchanged", () => {
  const map: Record<string, EventEntry> = {
    greeted: {
      by: "driver",
      schema: eventMap.thread_renamed.schema,
      v: 2,
      lifts: [(event) => ({ ...event, loud: true })],
    },
  };
  const read = Object.freeze({ type: "greeted", v: 1 });
  assert.deepEqual(lift(read, map), { type: "greeted", v: 2, loud: true });
  assert.deepEqual(read, { type: "greeted", v: 1 });
  for (const event of [
    { type: "greeted", v: 9 },
    { type: "waved", v: 1 },
  ])
    assert.equal(lift(event, map), event);
});

test("every event of the map has one lift for each earlier version", () => {
  const entries: [string, EventEntry][] = Object.entries(eventMap);
  assert.deepEqual(
    entries.filter(([, { v, lifts }]) => lifts.length !== v - 1),
    [],
  );
});

test("stamp adds version and time, and drops fields that the map lacks", () => {
  const event = { type: "thread_renamed", title: "New", turnId: "turn_1", extra: true } as unknown as NewEvent;
  assert.deepEqual(stamp(event, 42), { type: "thread_renamed", v: 1, at: 42, turnId: "turn_1", title: "New" });
});

const malformed: [string, unknown][] = [
  ["an unknown type", { type: "telepathy_received" }],
  ["a live event", { type: "info", message: "so" }],
  ["a missing field", { type: "thread_renamed" }],
  ["a field of another kind", { type: "thread_renamed", title: 3 }],
  ["a value that is not in the list", { type: "agent_end", reason: "bored" }],
  ["a role that is not in the list", { type: "message_end", message: { id: "m", role: "system", content: [] } }],
  ["a part of no known kind", { type: "message_end", message: { id: "m", role: "user", content: [{ type: "song" }] } }],
  [
    "a part without its field",
    { type: "message_end", message: { id: "m", role: "user", content: [{ type: "text" }] } },
  ],
  [
    "a result of another kind",
    { type: "tool_end", toolCallId: "c", toolName: "t", result: 1, isError: false, durationMs: 1 },
  ],
  ["no arguments at all", { type: "tool_start", toolCallId: "c", toolName: "t", key: "k", effect: "once" }],
];

for (const [what, event] of malformed) {
  test(`stamp refuses ${what}`, () => {
    assert.throws(() => stamp(event as NewEvent, 1), { name: "CinchError", code: "INVALID_INPUT" });
  });
}

test("exactly the commands can be appended without the lease", () => {
  const commands = durableTypes.filter((type) => !needsLease({ type }));
  assert.equal(
    commands.toSorted().join(" "),
    "abort_requested background_settled compaction_requested file_changed grant_added input_accepted input_edited input_removed mode_changed " +
      "model_changed om_observation_end om_reflection_end permission_changed state_changed subagent_end thread_renamed tool_approval_resolved tool_resumed",
  );
  assert.equal(needsLease({ type: "info" }), false);
  assert.deepEqual([isForeign({ type: "info", v: 1 }), isForeign({ type: "agent_end", v: 2 })], [false, true]);
});

test("VERSIONS has the versions of the event map", () => {
  const newest = Object.entries(eventMap).map(
    ([type, { v, newer }]: [string, EventEntry]) => [type, newer?.v ?? v] as const,
  );
  const lifted = newest.filter(([, v]) => v > 1);
  assert.deepEqual(VERSIONS, Object.fromEntries(lifted));
});
