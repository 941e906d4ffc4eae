import assert from "node:assert/strict";
import { test } from "node:test";
import { verifyEvents } from "@ag-ui/client";
import { EventSchema } from "@ag-ui/core/schemas";
import type { DurableEvent, EventType, HarnessEvent } from "@cinch/core";
import { besideTurns, eventMap } from "@cinch/core/journal";
import * as fc from "fast-check";
import { from, lastValueFrom, toArray } from "rxjs";
import { journals } from "../../../../testkit/src/journal.ts";
import type { AguiEvent } from "../../../src/adapters/ag-ui/agui-event.ts";
import { foldRun, interruptOf, startOfRun } from "../../../src/adapters/ag-ui/run-fold.ts";
import { newRunState, type RunState } from "../../../src/adapters/ag-ui/run-state.ts";
import { BEGINNING, exampleOf } from "../example-events.ts";

const usage = { inputTokens: 10, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const activity = { messageId: "activity.c1", activityType: "tool" };
const replaced = (path: string, value: unknown) => ({ op: "replace", path, value });
const ended = (seq: number, outcome: object) => [
  { type: "STEP_FINISHED", stepName: "step 1" },
  { type: "STATE_DELTA", delta: [replaced("/seq", seq)] },
  { type: "RUN_FINISHED", threadId: "thread", runId: "run", ...outcome },
];
const messages = [
  {
    id: "m1",
    role: "assistant",
    toolCalls: [{ id: "c1", type: "function", function: { name: "write", arguments: '{"path":"/a"}' } }],
  },
];
const cancelled = { outcome: { type: "cancelled" }, result: { reason: "aborted" } };

/** What a client gets for the example of each event. */
const EXPECTED: Record<EventType, object[]> = {
  agent_start: [{ type: "STATE_DELTA", delta: [replaced("/modeId", "plan"), replaced("/modelId", "m2")] }],
  agent_end: ended(6, { outcome: { type: "success" }, result: { reason: "complete" } }),
  step_start: [],
  step_end: [{ type: "STEP_FINISHED", stepName: "step 1" }],
  error: [],
  info: [{ type: "CUSTOM", name: "notice", value: "By the way" }],
  retry_scheduled: [{ type: "CUSTOM", name: "notice", value: "Again soon" }],
  resync: [
    {
      type: "RUN_ERROR",
      message: "The connection did not keep up with the run. Run the agent again.",
      code: "TOO_SLOW",
    },
  ],
  message_start: [],
  message_update: [
    { type: "TEXT_MESSAGE_START", messageId: "m2", role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "m2", delta: "Hi" },
  ],
  message_discarded: [{ type: "MESSAGES_SNAPSHOT", messages }],
  message_end: [
    { type: "TEXT_MESSAGE_START", messageId: "m2", role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "m2", delta: "Hi" },
    { type: "TEXT_MESSAGE_END", messageId: "m2" },
  ],
  tool_input_start: [{ type: "TOOL_CALL_START", toolCallId: "c2", toolCallName: "read" }],
  tool_input_delta: [],
  tool_input_end: [],
  tool_start: [
    {
      type: "ACTIVITY_SNAPSHOT",
      ...activity,
      content: { toolCallId: "c1", toolName: "write", args: { path: "/a" }, status: "running", output: "" },
    },
  ],
  tool_update: [],
  shell_output: [],
  tool_end: [
    {
      type: "TOOL_CALL_RESULT",
      messageId: "result.6",
      toolCallId: "c1",
      content: "wrote",
      role: "tool",
      metadata: { isError: false, durationMs: 5 },
    },
  ],
  // The run ends with what it waits for, as soon as it waits.
  tool_approval_required: [],
  tool_approval_resolved: [],
  tool_suspended: [],
  tool_resumed: [],
  task_updated: [
    {
      type: "STATE_DELTA",
      delta: [replaced("/tasks", [{ id: "1", content: "Do it", status: "pending", activeForm: "Doing it" }])],
    },
  ],
  mode_changed: [{ type: "STATE_DELTA", delta: [replaced("/modeId", "plan"), replaced("/modelId", "m2")] }],
  model_changed: [{ type: "STATE_DELTA", delta: [replaced("/modelId", "m2")] }],
  thread_renamed: [{ type: "STATE_DELTA", delta: [replaced("/title", "New")] }],
  state_changed: [{ type: "STATE_DELTA", delta: [replaced("/values", { yolo: true })] }],
  usage_update: [{ type: "STATE_DELTA", delta: [replaced("/usage", usage), replaced("/cost", 0.5)] }],
  subagent_start: [
    {
      type: "SUBAGENT_STARTED",
      subagentRunId: "r1",
      name: "helper",
      description: "Help",
      parentToolCallId: "c1",
    },
  ],
  ...besideTurns([]),
  subagent_end: [],
  subagent_text_delta: [],
  subagent_tool_start: [],
  subagent_tool_end: [],
  subagent_event: [],
  thread_rewound: ended(6, cancelled),
  thread_deleted: ended(5, cancelled),
  input_taken: [],
};

const beginning = (): RunState =>
  BEGINNING.reduce(
    (state, event) => foldRun(state, event)[0],
    newRunState({ threadId: "thread", runId: "run", turnId: "t1", messages: [] }),
  );

function folded(...types: EventType[]): readonly [RunState, readonly AguiEvent[]] {
  let [state, events]: readonly [RunState, readonly AguiEvent[]] = [beginning(), []];
  for (const [at, type] of types.entries()) {
    const isLive = eventMap[type].by === "live";
    [state, events] = foldRun(state, exampleOf(type, { seq: 6 + at, isLive }));
  }
  return [state, events];
}

test("every event of the map has a line in the table", () => {
  assert.deepEqual(Object.keys(EXPECTED).toSorted(), Object.keys(eventMap).toSorted());
  for (const type of Object.keys(eventMap) as EventType[]) assert.deepEqual(folded(type)[1], EXPECTED[type], type);
});

test("the output of a command is an activity, and so is its end", () => {
  assert.deepEqual(folded("tool_start", "shell_output")[1], [
    { type: "ACTIVITY_DELTA", ...activity, patch: [replaced("/output", "line\n")] },
  ]);
  assert.deepEqual(folded("tool_start", "tool_update")[1], [
    { type: "ACTIVITY_DELTA", ...activity, patch: [{ op: "add", path: "/progress", value: { done: 1 } }] },
  ]);
  assert.deepEqual(folded("tool_start", "tool_end")[1][0], {
    type: "ACTIVITY_DELTA",
    ...activity,
    patch: [replaced("/status", "ended")],
  });
});

test("a subagent has its own text and calls", () => {
  const tag = { subagentRunId: "r1" };
  assert.deepEqual(folded("subagent_start", "subagent_text_delta")[1], [
    { type: "TEXT_MESSAGE_START", messageId: "r1.0", ...tag, role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "r1.0", ...tag, delta: "Let me" },
  ]);
  assert.deepEqual(folded("subagent_start", "subagent_text_delta", "subagent_tool_start")[1], [
    { type: "TEXT_MESSAGE_END", messageId: "r1.0", ...tag },
    { type: "TOOL_CALL_START", toolCallId: "child:c1", ...tag, toolCallName: "write" },
    { type: "TOOL_CALL_ARGS", toolCallId: "child:c1", ...tag, delta: "{}" },
    { type: "TOOL_CALL_END", toolCallId: "child:c1", ...tag },
  ]);
  assert.deepEqual(folded("subagent_start", "subagent_end")[1], [
    { type: "SUBAGENT_FINISHED", ...tag, result: "Helped", outcome: { type: "success" } },
  ]);
});

test("a run that waits ends with its interrupts, those of subagents among them", () => {
  assert.equal(interruptOf(beginning()), null);
  const [asks] = folded("tool_approval_required");
  const last = interruptOf(asks)!.at(-1) as Extract<AguiEvent, { type: "RUN_FINISHED" }>;
  assert.ok(last.outcome.type === "interrupt");
  assert.deepEqual(
    last.outcome.interrupts.map(({ id, reason, toolCallId }) => [id, reason, toolCallId]),
    [["c1.6", "tool_approval", "c1"]],
  );
  assert.equal(interruptOf(folded("tool_approval_required", "tool_approval_resolved")[0]), null);
  const [state] = folded("subagent_start");
  const asked = { ...exampleOf("subagent_event", { seq: 0, isLive: true }), status: "waiting" } as HarnessEvent;
  const events = interruptOf(foldRun(state, asked)[0])!;
  assert.deepEqual(
    events.find(({ type }) => type === "SUBAGENT_FINISHED"),
    { type: "SUBAGENT_FINISHED", subagentRunId: "r1", outcome: { type: "suspended", interruptIds: ["child:c1.7"] } },
  );
});

test("verifyEvents of AG-UI accepts the runs of 200 random journals, also where they are interrupted", async () => {
  await fc.assert(
    fc.asyncProperty(journals, async (journal) => {
      for (const run of runsOf(journal)) {
        for (const event of run) EventSchema.parse(event);
        const verified = from(run).pipe(verifyEvents() as never, toArray());
        assert.equal(((await lastValueFrom(verified)) as unknown[]).length, run.length);
      }
    }),
    { numRuns: 200 },
  );
});

/** The runs of each turn. Every question ends a run, and the next one goes on. */
function runsOf(journal: readonly DurableEvent[]): AguiEvent[][] {
  const turns = new Map<string, { state: RunState; runs: AguiEvent[][] }>();
  for (const event of journal) {
    const { turnId } = event;
    if (turnId === undefined) continue;
    const fresh = newRunState({ threadId: "thread", runId: "run", turnId, messages: [] });
    const turn = turns.get(turnId) ?? { state: fresh, runs: [[]] };
    if (!turns.has(turnId) && event.type !== "agent_start") continue;
    turns.set(turnId, turn);
    const before = turn.state;
    const [state, events] = foldRun(turn.state, event as HarnessEvent);
    turn.state = state;
    const isNew = turn.runs.at(-1)!.at(-1)?.type === "RUN_FINISHED" && !before.phase.isEnded;
    if (isNew) turn.runs.push(startOfRun(before));
    turn.runs.at(-1)!.push(...events);
    if (!state.phase.isEnded) turn.runs.at(-1)!.push(...(interruptOf(state) ?? []));
  }
  return Array.from(turns.values(), ({ runs }) => runs).flat();
}
