import assert from "node:assert/strict";
import { test } from "node:test";
import {
  emptyTranscript,
  newThreadState,
  noUsage,
  reduceInbox,
  reduceThread,
  reduceTranscript,
} from "@cinch/core/journal";
import { MESSAGES_SHOWN } from "@cinch/core/display";
import { newDisplayState, reduceDisplay, type DurableEvent, type HarnessEvent, type InboxItem } from "@cinch/core";
import * as fc from "fast-check";
import { streams, tool, where } from "./live-streams.ts";

function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const child of Object.values(value)) frozen(child);
  return value;
}

/** Folds with every state and event frozen, so that a change of one throws, and checks that each state survives JSON. */
function foldsPurely<S, E>(initial: S, reduce: (state: S, event: E) => S, events: readonly E[]): S {
  let state = frozen(initial);
  for (const event of events) {
    const next = reduce(state, frozen(event));
    assert.deepEqual(reduce(state, event), next, "the same state and event give the same");
    assert.deepEqual(JSON.parse(JSON.stringify(next)), next, "a state is JSON");
    state = frozen(next);
  }
  return state;
}

test("every fold is pure, and its states are JSON", () => {
  fc.assert(
    fc.property(streams, (events) => {
      const durable = events.filter((event): event is HarnessEvent & DurableEvent => "v" in event);
      foldsPurely(newDisplayState("thread_a"), reduceDisplay, events);
      foldsPurely<readonly InboxItem[], DurableEvent>([], reduceInbox, durable);
      foldsPurely(newThreadState, reduceThread, durable);
      foldsPurely(emptyTranscript, reduceTranscript, durable);
    }),
    { numRuns: 60 },
  );
});

test("the display agrees with the journal, and with the fold that a driver uses", () => {
  fc.assert(
    fc.property(streams, (events) => {
      let display = newDisplayState("thread_a");
      let state = newThreadState;
      for (const event of events) {
        display = reduceDisplay(display, event);
        if ("v" in event) state = reduceThread(state, event as DurableEvent);
        const isCompacting = state.context.requested !== null;
        const isIdle = state.turn === null && (state.inbox.length === 0 || state.held) && !isCompacting;
        const hasSubagents = Object.values(display.activeSubagents).some(({ endedAt }) => endedAt === null);
        assert.deepEqual(
          [display.seq, display.title, display.inbox, display.status === "idle"],
          [state.seq, state.title, state.inbox, isIdle && !hasSubagents],
        );
        assert.equal(display.isRunning, display.status === "running");
        const oldest = Object.values(display.pendingApprovals).toSorted((a, b) => a.seq - b.seq)[0] ?? null;
        assert.equal(display.pendingApproval, oldest);
        assert.equal(display.queuedFollowUps, display.inbox.filter((item) => item.delivery !== "steer").length);
      }
    }),
    { numRuns: 100 },
  );
});

test("a display state that was sent as JSON at any event folds to the same states as the original", () => {
  fc.assert(
    fc.property(streams, fc.nat(), (events, place) => {
      const at = place % (events.length + 1);
      const here = events.slice(0, at).reduce(reduceDisplay, newDisplayState("thread_a"));
      const there = JSON.parse(JSON.stringify(here)) as typeof here;
      assert.deepEqual(events.slice(at).reduce(reduceDisplay, there), events.slice(at).reduce(reduceDisplay, here));
    }),
    { numRuns: 300 },
  );
});

const said = (seq: number): HarnessEvent => ({
  type: "message_end",
  v: 1,
  at: 1,
  seq,
  threadId: "thread_a",
  message: { id: `m${seq}`, role: "user", content: [{ type: "text", text: `number ${seq}` }] },
});

const long = Array.from({ length: 5_000 }, (_, at) => said(at + 1)).reduce(reduceDisplay, newDisplayState("thread_a"));

test("the display has only the newest messages", () => {
  assert.equal(long.messages.length, MESSAGES_SHOWN);
  assert.deepEqual([long.messages[0]?.id, long.messages.at(-1)?.id], [`m${5_000 - MESSAGES_SHOWN + 1}`, "m5000"]);
});

test("a text delta on a thread of 5,000 messages changes only the message that grows", () => {
  const started = reduceDisplay(long, { type: "message_start", messageId: "new", role: "assistant", ...where });
  const update = { type: "message_update", messageId: "new", role: "assistant", index: 0, part: "text", delta: "a" };
  const grown = reduceDisplay(started, { ...update, ...where } as HarnessEvent);
  const { currentMessage, ...rest } = grown;
  assert.deepEqual(currentMessage, { id: "new", role: "assistant", content: [{ type: "text", text: "a" }] });
  for (const [name, value] of Object.entries(rest)) assert.equal(value, started[name as keyof typeof rest], name);
});

test("a text delta costs the same in a long message as in a short one", () => {
  const start = reduceDisplay(long, { type: "message_start", messageId: "new", role: "assistant", ...where });
  const update = {
    type: "message_update",
    messageId: "new",
    role: "assistant",
    index: 0,
    part: "text",
    delta: "abcde",
  };
  const event = { ...update, ...where } as HarnessEvent;
  // The time of the processor, because other processes take theirs.
  const time = (state: typeof start, count: number) => {
    const before = process.cpuUsage();
    let at = state;
    for (let n = 0; n < count; n++) at = reduceDisplay(at, event);
    const { user, system } = process.cpuUsage(before);
    return { ms: (user + system) / 1_000, state: at };
  };
  const warm = time(start, 20_000);
  const tries = Array.from({ length: 9 }, () => [time(start, 5_000).ms, time(warm.state, 5_000).ms] as const);
  const short = Math.min(...tries.map(([ms]) => ms));
  const later = Math.min(...tries.map(([, ms]) => ms));
  assert.ok(later < short * 5 + 5, `${later} ms after 100,000 characters, ${short} ms before`);
});

test("a block that streams out of order leaves no gap", () => {
  const start = reduceDisplay(newDisplayState("t"), {
    type: "message_start",
    messageId: "m",
    role: "assistant",
    ...where,
  });
  const update = { type: "message_update", messageId: "m", role: "assistant", index: 1, part: "reasoning", delta: "a" };
  assert.deepEqual(reduceDisplay(start, { ...update, ...where } as HarnessEvent).currentMessage?.content, [
    { type: "text", text: "" },
    { type: "reasoning", text: "a" },
  ]);
});

test("a turn that a driver continues while all its calls wait for a person is shown as waiting", () => {
  const durable = { v: 1, at: 1, threadId: "thread_a", turnId: "turn_1" };
  const start = { type: "agent_start", modeId: "default", modelId: "m", ...durable } as const;
  const called = { id: "m", role: "assistant" as const, content: [{ type: "tool-call" as const, ...tool, input: {} }] };
  const asked = { type: "tool_suspended", ...tool, args: {}, suspendPayload: "Which?", ...durable } as const;
  const events: HarnessEvent[] = [
    { ...start, seq: 1, resumed: false },
    { type: "message_end", message: called, ...durable, seq: 2 },
    { ...asked, seq: 3 },
    { ...start, seq: 4, resumed: true },
  ];
  assert.deepEqual(
    events.map((_, at) => events.slice(0, at + 1).reduce(reduceDisplay, newDisplayState("thread_a")).status),
    ["running", "running", "waiting", "waiting"],
  );
});

test("after a rewind into a turn, the display shows no open call", () => {
  const events = [
    { type: "agent_start", modeId: "default", modelId: "m", resumed: false },
    {
      type: "message_end",
      message: { id: "m0", role: "assistant", content: [{ type: "tool-call", ...tool, input: {} }] },
    },
    { type: "tool_approval_required", ...tool, args: {}, category: "edit", digest: "d", decisions: ["approve"] },
    { type: "thread_rewound", toSeq: 3, files: false, rules: [], grants: [], usage: noUsage },
  ].map((event, at) => ({ ...event, v: 1, seq: at + 1, ...where }) as unknown as HarnessEvent);
  const [asked, rewound] = [3, 4].map((count) => events.slice(0, count).reduce(reduceDisplay, newDisplayState("t")));
  assert.deepEqual([asked!.status, Object.keys(asked!.pendingApprovals)], ["waiting", [tool.toolCallId]]);
  const { status, turnId, activeTools, pendingApproval, pendingApprovals } = rewound!;
  assert.deepEqual([status, turnId, activeTools, pendingApproval, pendingApprovals], ["idle", null, {}, null, {}]);
});
