import assert from "node:assert/strict";
import { test } from "node:test";
import { newDisplayState, reduceDisplay, type HarnessDisplayState, type HarnessEvent } from "@cinch/core";
import { noUsage } from "@cinch/core/journal";
import * as fc from "fast-check";

/**
 * What decides how a turn goes on, and is easily lost when a display is sent: inputs that an abort holds back, parked turns, calls that are
 * declined, and subagents that run meanwhile. Random journals have all of them at once too rarely.
 */

const RUN = { childThreadId: "child", runId: "thread_a:c1", turnId: "t1", toolCallId: "c1" };
const START = { type: "subagent_start", ...RUN, agentName: "scout", path: ["scout"], task: "look" };
const usage = { ...noUsage, inputTokens: 1 };

/** An event, and whether a thread with this display can have it next. */
interface Step {
  event: { type: string };
  isNext: (display: HarnessDisplayState) => boolean;
}

const inTurn = ({ turnId }: HarnessDisplayState) => turnId !== null;
const isFree = (display: HarnessDisplayState) => inTurn(display) && Object.keys(display.activeTools).length === 0;
const runs = ({ activeSubagents }: HarnessDisplayState) => activeSubagents["child"]?.endedAt === null;

const ofInput = (inputId: string): Step[] => {
  const waits = ({ inbox }: HarnessDisplayState) => inbox.some((item) => item.inputId === inputId);
  return [
    {
      event: { type: "input_accepted", inputId, delivery: "followUp", content: "x" } as Step["event"],
      isNext: (display) => !waits(display),
    },
    { event: { type: "input_taken", inputId } as Step["event"], isNext: waits },
  ];
};

const ofCall = (toolCallId: string): Step[] => {
  const call = { toolCallId, toolName: "tool", args: {} };
  const is =
    (...statuses: string[]) =>
    ({ activeTools }: HarnessDisplayState) =>
      statuses.includes(activeTools[toolCallId]?.status ?? "");
  const asks = ({ pendingApprovals }: HarnessDisplayState) => Object.hasOwn(pendingApprovals, toolCallId);
  const approval = { category: "other", digest: "d", suggestion: null, decisions: ["approve"], path: [] };
  const steps: [object, Step["isNext"]][] = [
    [{ type: "tool_start", ...call }, is("pending")],
    [{ type: "tool_end", ...call, result: { content: "x" }, isError: false, durationMs: 1 }, is("running")],
    [{ type: "tool_approval_required", ...call, ...approval }, is("pending")],
    [{ type: "tool_approval_resolved", ...call, decision: "approve" }, asks],
    [{ type: "tool_approval_resolved", ...call, decision: "decline" }, asks],
    [{ type: "tool_approval_resolved", ...call, decision: "decline", message: "no" }, asks],
    [{ type: "tool_suspended", ...call, suspendPayload: {}, path: [] }, is("running")],
    [{ type: "tool_suspended", ...call, suspendPayload: {}, path: [], forChildren: true }, is("running")],
    [
      { type: "tool_resumed", ...call, data: {} },
      ({ pendingSuspensions }) => Object.hasOwn(pendingSuspensions, toolCallId),
    ],
  ];
  return steps.map(([event, isNext]) => ({ event: event as Step["event"], isNext }));
};

const answer = (...content: object[]) => ({ type: "message_end", message: { id: "m", role: "assistant", content } });
const callPart = (toolCallId: string) => ({ type: "tool-call", toolCallId, toolName: "tool", input: {} });
const start = { type: "agent_start", turnId: "t1", modeId: "build", modelId: "m" };
const queue = ({ inbox }: HarnessDisplayState) => inbox.length > 0;

const ofTurn: Step[] = (
  [
    [{ ...start, resumed: false }, (display) => !inTurn(display)],
    [{ ...start, resumed: true }, inTurn],
    [{ ...start, resumed: true, unstarted: ["c1"] }, inTurn],
    [answer(callPart("c1"), callPart("c2")), isFree],
    [answer({ type: "text", text: "a" }), isFree],
    [{ type: "abort_requested", turnId: "t1" }, inTurn],
    [{ type: "error", code: "PARKED", message: "later", retryable: true, parked: true }, inTurn],
    [{ type: "error", code: "OTHER", message: "no", retryable: false }, inTurn],
    [{ type: "usage_update", usage, cost: null }, inTurn],
    [{ type: "usage_update", usage, cost: 1 }, inTurn],
    [{ type: "agent_end", turnId: "t1", reason: "complete" }, inTurn],
    // An older release did not record whether the queue is held.
    [{ type: "agent_end", turnId: "t1", reason: "aborted" }, inTurn],
    [
      { type: "agent_end", turnId: "t1", reason: "aborted", held: true },
      (display) => inTurn(display) && queue(display),
    ],
    [START, (display) => display.activeTools["c1"]?.status === "running" && !runs(display)],
    [
      { ...START, background: { agentId: "b1" } },
      (display) => display.activeTools["c1"]?.status === "running" && !runs(display),
    ],
    [{ type: "subagent_end", ...RUN, status: "done", usage, cost: 0, durationMs: 1 }, runs],
  ] as [object, Step["isNext"]][]
).map(([event, isNext]) => ({ event: event as Step["event"], isNext }));

const STEPS = [...ofInput("i1"), ...ofInput("i2"), ...ofCall("c1"), ...ofCall("c2"), ...ofTurn];

test("whatever a turn has come to, a display that was sent folds on like the one that stayed", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...STEPS), { maxLength: 80, size: "max" }), fc.nat(), (steps, place) => {
      let here = newDisplayState("thread_a");
      let there: HarnessDisplayState | null = null;
      const sentAt = place % (steps.length + 1);
      for (const [at, { event, isNext }] of steps.entries()) {
        if (at === sentAt) there = JSON.parse(JSON.stringify(here)) as HarnessDisplayState;
        if (!isNext(here)) continue;
        const next = { v: 1, at: 1, threadId: "thread_a", seq: here.seq + 1, ...event } as unknown as HarnessEvent;
        here = reduceDisplay(here, next);
        if (there) assert.deepEqual((there = reduceDisplay(there, next)), here);
      }
    }),
    { numRuns: 2_000 },
  );
});
