import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventType } from "@cinch/core";
import { besideTurns, eventMap } from "@cinch/core/journal";
import { foldChunks, waitingEnd } from "../../../src/adapters/ai-sdk/chunk-fold.ts";
import { newChunkState, type ChunkState } from "../../../src/adapters/ai-sdk/chunk-state.ts";
import type { SdkVersion, UiChunk } from "../../../src/adapters/ai-sdk/ui-chunk.ts";
import { BEGINNING, exampleOf } from "../example-events.ts";

const of = { toolCallId: "c1", dynamic: true } as const;
const status = { modeId: "default", modelId: "m1", usage: null, cost: null };
const descriptor = {
  digest: "d1",
  decisions: ["approve", "decline"],
  category: "edit",
  path: [],
  suggestion: null,
  preview: null,
  skill: null,
};
const usage = { inputTokens: 10, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const metadata = { seq: 6, status: "waiting" };
const emptyStep = [{ type: "finish-step" }, { type: "start-step" }, { type: "finish-step" }];

const aborted = (seq: number) => ({ type: "message-metadata", messageMetadata: { seq, status: "aborted" } });

/** What a client of version 6 gets for the example of each event. */
const EXPECTED: Record<EventType, object[]> = {
  agent_start: [{ type: "data-status", id: "status", data: { ...status, modeId: "plan", modelId: "m2" } }],
  agent_end: [...emptyStep, { type: "finish", finishReason: "stop", messageMetadata: { seq: 6, status: "complete" } }],
  step_start: [],
  step_end: [{ type: "finish-step" }],
  error: [],
  info: [{ type: "data-notice", data: { message: "By the way" }, transient: true }],
  retry_scheduled: [{ type: "data-notice", data: { message: "Again soon" }, transient: true }],
  resync: [{ type: "error", errorText: "The connection did not keep up with the answer. Resume the stream." }],
  message_start: [],
  message_update: [
    { type: "text-start", id: "m2.0" },
    { type: "text-delta", id: "m2.0", delta: "Hi" },
  ],
  message_discarded: [],
  message_end: [
    { type: "text-start", id: "m2.0" },
    { type: "text-delta", id: "m2.0", delta: "Hi" },
    { type: "text-end", id: "m2.0" },
  ],
  tool_input_start: [{ type: "tool-input-start", toolCallId: "c2", toolName: "read", dynamic: true }],
  tool_input_delta: [],
  tool_input_end: [],
  tool_start: [],
  tool_update: [
    { type: "tool-output-available", ...of, output: { content: "", details: { done: 1 } }, preliminary: true },
  ],
  shell_output: [{ type: "tool-output-available", ...of, output: { content: "line\n" }, preliminary: true }],
  tool_end: [{ type: "tool-output-available", ...of, output: { content: "wrote", durationMs: 5 } }],
  tool_approval_required: [
    { type: "tool-approval-request", approvalId: "c1.6", toolCallId: "c1", approvalDescriptor: descriptor },
    { type: "message-metadata", messageMetadata: metadata },
  ],
  tool_approval_resolved: [],
  tool_suspended: [
    {
      type: "data-question",
      id: "c1",
      data: { toolCallId: "c1", toolName: "write", seq: 6, suspendPayload: { question: "Why?" }, path: [] },
    },
    { type: "message-metadata", messageMetadata: metadata },
  ],
  tool_resumed: [
    { type: "tool-output-available", ...of, output: { content: "", details: "because" }, preliminary: true },
  ],
  task_updated: [
    {
      type: "data-tasks",
      id: "tasks",
      data: [{ id: "1", content: "Do it", status: "pending", activeForm: "Doing it" }],
    },
  ],
  mode_changed: [{ type: "data-status", id: "status", data: { ...status, modeId: "plan", modelId: "m2" } }],
  model_changed: [{ type: "data-status", id: "status", data: { ...status, modelId: "m2" } }],
  usage_update: [{ type: "data-status", id: "status", data: { ...status, usage, cost: 0.5 } }],
  subagent_start: [
    {
      type: "data-subagent",
      id: "child",
      data: {
        threadId: "child",
        agentName: "helper",
        path: ["helper"],
        task: "Help",
        status: "running",
        toolName: null,
      },
    },
  ],
  ...besideTurns([]),
  subagent_end: [],
  subagent_text_delta: [{ type: "data-subagent-text", data: { threadId: "child", delta: "Let me" }, transient: true }],
  subagent_tool_start: [],
  subagent_tool_end: [],
  subagent_event: [
    {
      type: "tool-input-available",
      toolCallId: "child:c1",
      toolName: "write",
      input: { path: "/a" },
      dynamic: true,
    },
    { type: "tool-approval-request", approvalId: "child:c1.7", toolCallId: "child:c1", approvalDescriptor: descriptor },
  ],
  thread_rewound: [...emptyStep, aborted(6), { type: "abort" }],
  thread_deleted: [...emptyStep, aborted(5), { type: "abort" }],
  thread_renamed: [],
  input_taken: [],
  state_changed: [],
};

const begin = (version: SdkVersion): ChunkState =>
  BEGINNING.reduce(
    (state, event) => foldChunks(state, event)[0],
    newChunkState({ turnId: "t1", version, threadId: "thread" }),
  );

/** The chunks of the last of these events. */
function chunksOf(version: SdkVersion, ...types: EventType[]): readonly UiChunk[] {
  let [state, chunks]: readonly [ChunkState, readonly UiChunk[]] = [begin(version), []];
  for (const [at, type] of types.entries()) {
    const isLive = eventMap[type].by === "live";
    [state, chunks] = foldChunks(state, exampleOf(type, { seq: 6 + at, isLive }));
  }
  return chunks;
}

test("every event of the map has a line in the table", () => {
  assert.deepEqual(Object.keys(EXPECTED).toSorted(), Object.keys(eventMap).toSorted());
  for (const type of Object.keys(eventMap) as EventType[]) assert.deepEqual(chunksOf(6, type), EXPECTED[type], type);
});

test("the beginning of a turn is a message with the id of the turn, and a step", () => {
  const state = newChunkState({ turnId: "t1", version: 6, threadId: "thread" });
  const [after, start] = foldChunks(state, BEGINNING[0]!);
  assert.deepEqual(start, [
    { type: "start", messageId: "t1" },
    { type: "data-status", id: "status", data: status },
  ]);
  const last = BEGINNING.slice(1, 3).reduce((next, event) => foldChunks(next, event)[0], after);
  assert.deepEqual(foldChunks(last, BEGINNING[3]!)[1], [
    { type: "start-step" },
    { type: "tool-input-available", toolCallId: "c1", toolName: "write", input: { path: "/a" }, dynamic: true },
  ]);
});

test("only version 7 gets what only version 7 knows", () => {
  assert.deepEqual(chunksOf(7, "message_update", "message_discarded"), [{ type: "reset-step" }]);
  assert.deepEqual(chunksOf(6, "message_update", "message_discarded"), [{ type: "text-end", id: "m2.0" }]);
  assert.deepEqual(chunksOf(7, "tool_approval_required", "tool_approval_resolved"), [
    { type: "tool-approval-response", approvalId: "c1.6", approved: true },
  ]);
  assert.deepEqual(chunksOf(6, "tool_approval_required", "tool_approval_resolved"), []);
});

test("the text of a message is not sent twice: its end sends what did not stream", () => {
  assert.deepEqual(chunksOf(6, "message_update", "message_end"), [{ type: "text-end", id: "m2.0" }]);
});

test("a call that was approved shows that it runs", () => {
  assert.deepEqual(chunksOf(6, "tool_approval_required", "tool_approval_resolved", "tool_start"), [
    { type: "tool-output-available", ...of, output: { content: "" }, preliminary: true },
  ]);
});

test("a call that asks again has no output until it is answered", () => {
  const [input] = chunksOf(6, "tool_suspended", "tool_resumed", "tool_suspended");
  assert.deepEqual(input, {
    type: "tool-input-available",
    toolCallId: "c1",
    toolName: "write",
    input: { path: "/a" },
    dynamic: true,
  });
});

test("a response ends while the turn waits, and only then", () => {
  const asks = foldChunks(begin(6), exampleOf("tool_approval_required", { seq: 6, isLive: false }))[0];
  assert.deepEqual(waitingEnd(asks), [{ type: "finish", finishReason: "tool-calls", messageMetadata: metadata }]);
  const [answered] = foldChunks(asks, exampleOf("tool_approval_resolved", { seq: 7, isLive: false }));
  assert.equal(waitingEnd(answered), null);
  assert.equal(waitingEnd(begin(6)), null);
});
