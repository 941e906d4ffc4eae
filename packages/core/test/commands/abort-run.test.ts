import assert from "node:assert/strict";
import { test } from "node:test";
import { newThreadState, reduceThread, stamp, type NewEvent, type ThreadState } from "@cinch/core/journal";
import type { DurableEvent } from "@cinch/core";
import { abortRequest } from "../../src/commands/abort.ts";

const folded = (...events: NewEvent[]): ThreadState =>
  events
    .map((event, at) => ({ ...stamp(event, at), seq: at + 1, threadId: "child" }) as DurableEvent)
    .reduce(reduceThread, newThreadState);

/** A child whose turn has taken this input. */
const inTurnOf = (inputId: string): ThreadState =>
  folded(
    { type: "thread_created", title: "", resourceId: "default" },
    { type: "input_accepted", inputId, delivery: "send", content: "Look", named: true },
    { type: "agent_start", turnId: "turn", modeId: "default", modelId: "some/model", resumed: false },
    { type: "input_taken", turnId: "turn", inputId },
  );

test("the abort of a run ends its turn", () => {
  const request = abortRequest({ inbox: true, runId: "parent:7" })(inTurnOf("parent:7"));
  assert.deepEqual(request?.events, [{ type: "abort_requested", turnId: "turn", inbox: true }]);
});

test("the abort of a run that has ended leaves the turn alone that a person has begun since", () => {
  assert.equal(abortRequest({ inbox: true, runId: "parent:7" })(inTurnOf("a person's")), null);
});
