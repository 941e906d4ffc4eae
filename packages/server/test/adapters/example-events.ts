import type { EventType, HarnessEvent } from "@cinch/core";
import { newDisplayState } from "@cinch/core";

type Example<T extends EventType> = Omit<Extract<HarnessEvent, { type: T }>, "type" | "threadId" | "at" | "seq" | "v">;

const usage = { inputTokens: 10, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const tool = { toolCallId: "c1", toolName: "write" };
const run = { ...tool, runId: "r1", agentName: "helper", childThreadId: "child", path: ["helper"] };
const ofChild = { childThreadId: "child", path: ["helper"], status: "running" as const };
const range: [number, number] = [1, 2];
const tokens = { messageTokens: 1, observationTokens: 1 };
const om = { range, tokens: 1, modelId: "m", usage, cost: null, cutSeq: 0 };
const cut = { bodyTokens: 1, by: "p", kept: [], keptTokens: 0 };

/** What an approval asks, of the thread itself or of a subagent. */
export const approval = {
  ...tool,
  args: { path: "/a" },
  category: "edit" as const,
  digest: "d1",
  decisions: ["approve" as const, "decline" as const],
  path: [],
};

/** One event of each type, as it comes in the turn "t1" after a message with the call "c1". */
export const EXAMPLES: { [T in EventType]: Example<T> } = {
  thread_created: { title: "", resourceId: "r" },
  thread_renamed: { title: "New" },
  thread_cloned: { title: "", parent: { threadId: "p", seq: 1 }, rules: [], state: {} },
  thread_rewound: { toSeq: 1, files: false, rules: [], grants: [], usage },
  thread_changed: { previousThreadId: null },
  thread_deleted: { previousThreadId: null },
  resync: { displayState: newDisplayState("thread") } as Example<"resync">,
  input_accepted: { inputId: "i2", delivery: "follow_up", content: "more" },
  input_edited: { inputId: "i2", content: "more" },
  input_removed: { inputId: "i2" },
  input_taken: { inputId: "i2" },
  abort_requested: { turnId: "t1" },
  follow_up_queued: { count: 1, inputId: "i2" },
  steer_queued: { count: 1, inputId: "i2" },
  agent_start: { turnId: "t1", modeId: "plan", modelId: "m2", resumed: true },
  agent_end: { turnId: "t1", reason: "complete" },
  step_start: { turnId: "t1", step: 2 },
  step_end: { turnId: "t1", finishReason: "stop", usage },
  prompt_head: { turnId: "t1", blob: "b", key: "k", reason: "first" },
  error: { turnId: "t1", code: "PROVIDER_ERROR", message: "No answer", retryable: true },
  info: { message: "By the way" },
  retry_scheduled: { attempt: 1, delayMs: 10, message: "Again soon" },
  message_start: { turnId: "t1", messageId: "m2", role: "assistant" },
  message_update: {
    turnId: "t1",
    messageId: "m2",
    role: "assistant",
    index: 0,
    part: "text",
    delta: "Hi",
  } as Example<"message_update">,
  message_discarded: { turnId: "t1", messageId: "m2", role: "assistant", reason: "empty" },
  message_end: {
    turnId: "t1",
    message: { id: "m2", role: "assistant", content: [{ type: "text", text: "Hi" }] },
  },
  tool_input_start: { turnId: "t1", toolCallId: "c2", toolName: "read" },
  tool_input_delta: { turnId: "t1", toolCallId: "c2", toolName: "read", argsTextDelta: "{" },
  tool_input_end: { turnId: "t1", toolCallId: "c2", toolName: "read" },
  tool_start: { turnId: "t1", ...tool, args: { path: "/a" }, key: "k", effect: "once" },
  tool_update: { turnId: "t1", ...tool, partialResult: { done: 1 } },
  tool_end: { turnId: "t1", ...tool, result: { content: "wrote" }, isError: false, durationMs: 5 },
  shell_output: { turnId: "t1", ...tool, output: "line\n", stream: "stdout" },
  tool_approval_required: { turnId: "t1", ...approval },
  tool_approval_resolved: { turnId: "t1", ...tool, decision: "approve", digest: "d1" },
  tool_suspended: { turnId: "t1", ...tool, args: { path: "/a" }, suspendPayload: { question: "Why?" } },
  tool_resumed: { turnId: "t1", ...tool, resumeData: "because" },
  mode_changed: { modeId: "plan", previousModeId: "default", modelId: "m2" },
  model_changed: { modelId: "m2", scope: "thread", modeId: "" },
  state_changed: { updates: { yolo: true } },
  permission_changed: { rule: { toolName: "write", policy: "allow" } },
  grant_added: { rule: { toolName: "write", policy: "allow" }, from: "c1" },
  file_changed: { path: "/a", operation: "write", before: null, after: null },
  checkpoint_created: { reason: "change" },
  workspace_status_changed: { status: "ready" },
  workspace_ready: { protection: "os", description: "bwrap" },
  workspace_error: { message: "No shell" },
  task_updated: { turnId: "t1", tasks: [{ id: "1", content: "Do it", status: "pending", activeForm: "Doing it" }] },
  context_offloaded: {} as Example<"context_offloaded">,
  usage_update: { turnId: "t1", usage, cost: 0.5, cachedShare: 0 },
  subagent_start: {
    turnId: "t1",
    ...run,
    task: "Help",
    forked: false,
    session: "stateless",
    modeId: "default",
    depth: 0,
  },
  subagent_end: {
    turnId: "t1",
    ...run,
    result: { content: "Helped" },
    isError: false,
    status: "complete",
    durationMs: 5,
    usage,
    cost: null,
  },
  subagent_text_delta: { ...ofChild, delta: "Let me" },
  subagent_tool_start: { ...ofChild, ...tool, args: {} },
  subagent_tool_end: { ...ofChild, ...tool, result: { content: "x" }, isError: false, durationMs: 1 },
  subagent_event: {
    ...ofChild,
    event: { type: "tool_approval_required", threadId: "child", at: 0, seq: 7, v: 1, turnId: "tc", ...approval },
  },
  background_started: { turnId: "t1", agentId: "bg-1", runId: "r1", childThreadId: "child", status: "running" },
  background_settled: { agentId: "bg-1", runId: "r1", childThreadId: "child", status: "complete" },
  compaction_requested: {},
  om_observation_end: om,
  om_reflection_end: om,
  om_activation: { range, ...cut, reason: "threshold" },
  context_summarised: { range, ...cut, tokens: 1, reason: "threshold" },
  skill_loaded: { name: "s", path: "/s", blob: "b", tokens: 1 },
  om_status: { ...tokens, messageLimit: 2, observationLimit: 2 },
  om_observation_start: { range },
  om_observation_failed: { range, message: "x" },
  om_reflection_start: { range },
  om_reflection_failed: { range, message: "x" },
  om_buffering_start: tokens,
  om_buffering_end: tokens,
  display_state_changed: {} as Example<"display_state_changed">,
};

const LIVE: ReadonlySet<string> = new Set(["resync"]);

/** The example of a type as a whole event. */
export function exampleOf(type: EventType, { seq, isLive }: { seq: number; isLive: boolean }): HarnessEvent {
  const place = isLive && !LIVE.has(type) ? {} : { seq };
  return { type, threadId: "thread", at: 0, ...place, ...(isLive ? {} : { v: 1 }), ...EXAMPLES[type] } as HarnessEvent;
}

/** The beginning of the turn "t1": a message with the call "c1". */
export const BEGINNING = [
  { type: "agent_start", turnId: "t1", modeId: "default", modelId: "m1", resumed: false },
  { type: "input_taken", turnId: "t1", inputId: "i1" },
  {
    type: "message_end",
    turnId: "t1",
    message: { id: "u1", role: "user", content: [{ type: "text", text: "Go" }] },
  },
  {
    type: "message_end",
    turnId: "t1",
    message: {
      id: "m1",
      role: "assistant",
      content: [{ type: "tool-call", toolCallId: "c1", toolName: "write", input: { path: "/a" } }],
    },
  },
].map((event, at) => ({ threadId: "thread", at: 0, seq: at + 2, v: 1, ...event })) as HarnessEvent[];
