import assert from "node:assert/strict";
import { test } from "node:test";
import { newDisplayState, reduceDisplay, type HarnessDisplayState, type HarnessEvent } from "@cinch/core";
import { noUsage } from "@cinch/core/journal";

const run = {
  toolCallId: "call_1",
  toolName: "task",
  runId: "t:3",
  agentName: "explore",
  childThreadId: "child",
  path: ["explore"],
};
const started = {
  type: "subagent_start",
  ...run,
  task: "Look",
  forked: false,
  session: "new",
  modeId: "default",
  depth: 0,
};
const how = { result: { content: "ok" }, isError: false, status: "complete", durationMs: 1, usage: noUsage, cost: 0 };
const ended = { type: "subagent_end", ...run, ...how };
const input = { type: "tool-call", toolCallId: "call_1", toolName: "task", input: {} };
const turn = [
  { type: "agent_start", modeId: "default", modelId: "m", resumed: false },
  { type: "message_end", message: { id: "m", role: "assistant", content: [input] } },
];
const inBackground = [...turn, { ...started, background: { agentId: "bg-1", wake: true } }];
const parked = { type: "error", code: "PARKED", message: "Stopped.", retryable: true, parked: true };
const queued = { type: "input_accepted", inputId: "i", delivery: "follow_up", content: "Later" };

/** An event of the child by which its status becomes known. */
const child = (status: string) => ({
  live: true,
  type: "subagent_event",
  childThreadId: "child",
  path: ["explore"],
  status,
  event: { type: "info", message: "so", threadId: "child", at: 1 },
});

function fold(events: readonly object[], before: HarnessDisplayState = newDisplayState("t")): HarnessDisplayState {
  return events.reduce<HarnessDisplayState>((state, event) => {
    const { live, ...rest } = event as { live?: true };
    const durable = live ? {} : { v: 1, seq: state.seq + 1 };
    return reduceDisplay(state, { ...rest, ...durable, at: 1, threadId: "t", turnId: "turn_1" } as HarnessEvent);
  }, before);
}

test("a thread is running while all that is known of its subagents is that they delegate", () => {
  assert.equal(fold([...turn, started]).status, "running");
  assert.equal(fold([...turn, started, child("delegating")]).status, "running");
  assert.equal(fold([...turn, started, child("waiting")]).status, "waiting");
});

const masked: [string, object[], HarnessDisplayState["status"][]][] = [
  ["is parked while a subagent runs", [...inBackground, parked], ["running", "parked"]],
  [
    "is idle while a subagent is parked",
    [...inBackground, { type: "agent_end", reason: "complete" }, child("parked")],
    ["parked", "idle"],
  ],
  [
    "holds inputs while a subagent waits",
    [...inBackground, queued, { type: "agent_end", reason: "aborted", held: true }, child("waiting")],
    ["waiting", "idle"],
  ],
];

for (const [what, events, statuses] of masked) {
  test(`the display of a thread that ${what} folds on as its original, sent as JSON`, () => {
    const here = fold(events);
    const there = JSON.parse(JSON.stringify(here)) as typeof here;
    const after = fold([ended], here);
    assert.deepEqual([here.status, after.status], statuses);
    assert.deepEqual(fold([ended], there), after);
  });
}
