import assert from "node:assert/strict";
import { test } from "node:test";
import type { HarnessEvent } from "@cinch/core";
import { isAtRest, newTurnPhase, reducePhase } from "../../src/adapters/turn-phase.ts";
import { EXAMPLES } from "./example-events.ts";

const event = (type: string, fields: object = {}): HarnessEvent =>
  ({ type, threadId: "thread", at: 0, seq: 1, v: 1, turnId: "t1", ...fields }) as unknown as HarnessEvent;

const callPart = (toolCallId: string) => ({ type: "tool-call", toolCallId, toolName: "write", input: {} });
const calls = (...ids: string[]) =>
  event("message_end", { message: { id: "m", role: "assistant", content: ids.map(callPart) } });
const asks = (toolCallId: string) =>
  event("tool_approval_required", { ...EXAMPLES.tool_approval_required, toolCallId });
const resolved = (toolCallId: string, fields: object = {}) =>
  event("tool_approval_resolved", { toolCallId, decision: "approve", ...fields });
const ends = (toolCallId: string) => event("tool_end", { toolCallId });
const delegates = (toolCallId: string, childThreadId: string, fields: object = {}) =>
  event("subagent_start", { ...EXAMPLES.subagent_start, toolCallId, childThreadId, ...fields });
const says = (childThreadId: string, status: string, fields: object = {}) =>
  event("subagent_event", { childThreadId, path: ["helper"], status, event: { type: "info", message: "" }, ...fields });

const rests = (...events: HarnessEvent[]): boolean => isAtRest(events.reduce(reducePhase, newTurnPhase));

test("a turn waits when every call that has not ended asks a person", () => {
  assert.equal(rests(calls("a", "b"), asks("a")), false);
  assert.equal(rests(calls("a", "b"), asks("a"), ends("b")), true);
  assert.equal(rests(calls("a", "b"), asks("a"), asks("b")), true);
  assert.equal(rests(calls("a", "b"), asks("a"), asks("b"), resolved("a")), false);
  assert.equal(rests(calls("a"), asks("a"), resolved("a"), ends("a")), false);
});

test("a turn that a declined call ends does not wait for the other calls", () => {
  const declined = resolved("a", { decision: "decline" });
  const explained = resolved("a", { decision: "decline", message: "Not now" });
  assert.equal(rests(calls("a", "b"), asks("a"), asks("b"), declined), false);
  assert.equal(rests(calls("a", "b"), asks("a"), asks("b"), explained, ends("a")), true);
});

test("a turn that delegates waits when its subagents do, and not while one of them works", () => {
  const begun = [calls("a", "b"), delegates("a", "one"), delegates("b", "two")];
  assert.equal(rests(...begun), false);
  assert.equal(rests(...begun, says("one", "waiting")), false);
  assert.equal(rests(...begun, says("one", "waiting"), says("two", "waiting")), true);
  assert.equal(rests(...begun, says("one", "waiting"), says("two", "waiting"), says("one", "running")), false);
});

test("a subagent below a subagent counts, and one in the background does not", () => {
  const nested = { type: "subagent_start", childThreadId: "two", path: ["helper", "deeper"], toolCallId: "x" };
  const begun = [calls("a"), delegates("a", "one"), says("one", "delegating", { event: nested })];
  const deeper = { path: ["helper", "deeper"] };
  assert.equal(rests(...begun), false);
  assert.equal(rests(...begun, says("two", "waiting", deeper)), true);
  const background = delegates("b", "later", { background: { agentId: "bg-1", wake: true } });
  assert.equal(rests(calls("a", "b"), background, ends("b"), asks("a"), says("later", "running")), true);
});

test("a parked turn waits, until it is resumed", () => {
  const parked = event("error", { message: "x", code: "X", retryable: false, parked: true });
  assert.equal(rests(parked), true);
  assert.equal(rests(parked, event("agent_start", { resumed: true })), false);
});
