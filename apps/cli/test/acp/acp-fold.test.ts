import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { DurableEvent, EventType, HarnessEvent } from "@cinch/core";
import { besideTurns, eventMap } from "@cinch/core/journal";
import * as fc from "fast-check";
import { BEGINNING, exampleOf } from "../../../../packages/server/test/adapters/example-events.ts";
import { journals } from "../../../../packages/testkit/src/journal.ts";
import { diffContent } from "../../src/acp/acp-call.ts";
import { foldUpdates, newAcpState, type AcpState } from "../../src/acp/acp-fold.ts";

const of = { sessionUpdate: "tool_call_update", toolCallId: "c1" };
const call = {
  title: "write /a",
  name: "write",
  kind: "other",
  locations: [{ path: "/root/a" }],
  rawInput: { path: "/a" },
};
const text = (one: string) => ({ type: "text", text: one });

/** What an editor gets for the examples that it gets something for. */
const SHOWN: Partial<Record<EventType, object[]>> = {
  message_update: [{ sessionUpdate: "agent_message_chunk", content: text("Hi"), messageId: "m2" }],
  message_end: [{ sessionUpdate: "agent_message_chunk", content: text("Hi"), messageId: "m2" }],
  tool_input_start: [
    {
      sessionUpdate: "tool_call",
      toolCallId: "c2",
      title: "read",
      name: "read",
      kind: "other",
      locations: [],
      rawInput: null,
      status: "pending",
    },
  ],
  tool_start: [{ ...of, ...call, status: "in_progress" }],
  shell_output: [{ ...of, content: [{ type: "content", content: text("line\n") }] }],
  tool_end: [{ ...of, status: "completed", content: [{ type: "content", content: text("wrote") }] }],
  task_updated: [{ sessionUpdate: "plan", entries: [{ content: "Do it", status: "pending", priority: "medium" }] }],
  mode_changed: [{ sessionUpdate: "current_mode_update", currentModeId: "plan" }],
  thread_renamed: [{ sessionUpdate: "session_info_update", title: "New" }],
  usage_update: [{ sessionUpdate: "usage_update", used: 12, size: 1_000, cost: { amount: 0.5, currency: "USD" } }],
};

/** Of questions, the editor is asked by requests. The rest has no place in the protocol. */
const QUIET: EventType[] = [
  "tool_approval_required",
  "tool_approval_resolved",
  "tool_suspended",
  "tool_resumed",
  "model_changed",
  "state_changed",
  "subagent_start",
  "subagent_end",
  "subagent_tool_start",
  "subagent_tool_end",
  "subagent_text_delta",
  ...(Object.keys(besideTurns(null)) as EventType[]),
  "subagent_event",
  "message_start",
  "message_discarded",
  "tool_input_delta",
  "tool_input_end",
  "tool_update",
  "agent_start",
  "agent_end",
  "step_start",
  "step_end",
  "error",
  "info",
  "retry_scheduled",
  "resync",
  "thread_rewound",
  "thread_deleted",
  "input_taken",
];

const beginning = (): AcpState =>
  BEGINNING.reduce((state, event) => foldUpdates(state, event)[0], newAcpState({ root: "/root", window: 1_000 }));

function updatesOf(...types: EventType[]): readonly SessionUpdate[] {
  let [state, updates]: readonly [AcpState, readonly SessionUpdate[]] = [beginning(), []];
  for (const [at, type] of types.entries()) {
    const isLive = eventMap[type].by === "live";
    [state, updates] = foldUpdates(state, exampleOf(type, { seq: 6 + at, isLive }));
  }
  return updates;
}

test("every event of the map has a line in the table", () => {
  assert.deepEqual([...Object.keys(SHOWN), ...QUIET].toSorted(), Object.keys(eventMap).toSorted());
  for (const type of Object.keys(eventMap) as EventType[]) assert.deepEqual(updatesOf(type), SHOWN[type] ?? [], type);
});

test("a message of another seat is shown, and one of the editor's own is not shown again", () => {
  const [, user] = [BEGINNING[1]!, BEGINNING[2]!];
  const state = newAcpState({ root: "/root", window: 0 });
  const [taken] = foldUpdates(state, BEGINNING[1]!);
  assert.deepEqual(foldUpdates(taken, user)[1], [
    { sessionUpdate: "user_message_chunk", content: text("Go"), messageId: "u1" },
  ]);
  const [own] = foldUpdates({ ...state, ownInputs: ["i1"] }, BEGINNING[1]!);
  assert.deepEqual(foldUpdates(own, user)[1], []);
});

test("what a subagent does is shown in the call that started it", () => {
  assert.deepEqual(updatesOf("subagent_start", "subagent_tool_start"), [
    { ...of, content: [{ type: "content", content: text("helper: write") }] },
  ]);
});

test("text that has streamed is not sent again", () => {
  assert.deepEqual(updatesOf("message_update", "message_end"), []);
});

test("a unified diff becomes the old and the new text of each hunk", () => {
  const diff = "--- /a\n+++ /a\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n@@ -9,1 +9,2 @@\n nine\n+ten\n";
  assert.deepEqual(diffContent({ diff }, { file_path: "/a" }, "/root"), [
    { type: "diff", path: "/root/a", oldText: "one\ntwo\n", newText: "one\nthree\n" },
    { type: "diff", path: "/root/a", oldText: "nine\n", newText: "nine\nten\n" },
  ]);
});

test("in any journal, a call is announced before it changes", () => {
  fc.assert(
    fc.property(journals, (journal: DurableEvent[]) => {
      const announced = new Set<string>();
      let state = newAcpState({ root: "/root", window: 0 });
      for (const event of journal) {
        const [next, updates] = foldUpdates(state, event as HarnessEvent);
        state = next;
        for (const update of updates) {
          if (update.sessionUpdate === "tool_call") announced.add(update.toolCallId);
          if (update.sessionUpdate === "tool_call_update" && event.type === "message_end")
            assert.ok(announced.has(update.toolCallId));
        }
      }
    }),
  );
});
