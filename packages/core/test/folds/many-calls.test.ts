import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { newDisplayState, reduceDisplay, type DurableEvent, type HarnessEvent, type Part } from "@cinch/core";
import { newThreadState, reduceThread, stamp, type NewEvent } from "@cinch/core/journal";
import * as fc from "fast-check";
import { journals } from "../../../testkit/src/journal.ts";
import { reduceDisplayAll } from "../../src/folds/display.ts";
import { reduceThreadAll } from "../../src/folds/state.ts";

test("a batch of events folds to the same state as its events one by one, and does not change earlier states", () => {
  fc.assert(
    fc.property(journals, fc.nat(), (events, place) => {
      const at = place % events.length;
      const [before, after] = [events.slice(0, at), events.slice(at)];
      const state = before.reduce(reduceThread, newThreadState);
      const display = reduceDisplayAll(newDisplayState("t"), before as HarnessEvent[]);
      const copies = structuredClone([state, display]);
      assert.deepEqual(reduceThreadAll(state, after), after.reduce(reduceThread, state));
      const each = (after as HarnessEvent[]).reduce(reduceDisplay, display);
      assert.deepEqual(reduceDisplayAll(display, after as HarnessEvent[]), each);
      assert.ok(isDeepStrictEqual([state, display], copies));
    }),
    { numRuns: 100 },
  );
});

/** An answer with so many calls, each of which asks, is answered and ends. */
function journalOf(count: number): DurableEvent[] {
  const ids = Array.from({ length: count }, (_, n) => `call_${n}`);
  const content = ids.map((toolCallId): Part => ({ type: "tool-call", toolCallId, toolName: "note", input: {} }));
  const [turnId, toolName] = ["turn", "note"];
  const asked = { category: "other" as const, digest: "d", decisions: [], path: [] };
  const events: NewEvent[] = [
    { type: "thread_created", title: "", resourceId: "default" },
    { type: "agent_start", turnId, modeId: "default", modelId: "m", resumed: false },
    { type: "message_end", turnId, message: { id: "m", role: "assistant", content } },
    ...ids.map((toolCallId): NewEvent => {
      return { type: "tool_approval_required", turnId, toolCallId, toolName, args: {}, ...asked };
    }),
    ...ids.map((toolCallId): NewEvent => {
      return { type: "tool_approval_resolved", turnId, toolCallId, toolName, decision: "approve", digest: "d" };
    }),
    ...ids.flatMap((toolCallId): NewEvent[] => [
      { type: "tool_start", turnId, toolCallId, toolName, args: {}, key: toolCallId, effect: "once" },
      { type: "tool_end", turnId, toolCallId, toolName, result: { content: "ok" }, isError: false, durationMs: 1 },
    ]),
  ];
  return events.map((event, at) => ({ ...stamp(event, at), seq: at + 1, threadId: "t" }) as DurableEvent);
}

// With quadratic cost this would take minutes; with linear cost it takes a second.
test("the cost of a fold is linear in its events, however many calls wait at once", () => {
  const count = 30_000;
  const events = journalOf(count);
  const waiting = events.slice(0, 3 + count);
  const state = reduceThreadAll(newThreadState, waiting);
  const display = reduceDisplayAll(newDisplayState("t"), waiting as HarnessEvent[]);
  assert.deepEqual([display.status, Object.keys(display.pendingApprovals).length], ["waiting", count]);
  assert.equal(display.pendingApproval?.toolCallId, "call_0");
  const rest = events.slice(3 + count);
  const ended = reduceDisplayAll(display, rest as HarnessEvent[]);
  assert.deepEqual([reduceThreadAll(state, rest).turn?.phase, ended.pendingApproval], ["model", null]);
  assert.equal(Object.keys(ended.messages[0]!.outcomes).length, count);
});
