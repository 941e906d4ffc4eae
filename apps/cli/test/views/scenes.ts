import type { ActiveSubagent, HarnessDisplayState, ToolResult } from "@cinch/core";
import { OpenAnswer } from "../../src/app/open-answer.ts";
import type { Line } from "../../src/terminal/line.ts";
import { activityLines } from "../../src/views/activity.ts";
import { agentsLines } from "../../src/views/agents.ts";
import { endedCallLines, liveCallLines, lostCallLine, streamedCallLine } from "../../src/views/call.ts";
import { endLines, errorLines } from "../../src/views/failure.ts";
import { discardedLines, interruptedLines, noteLines, thoughtLine, userLines } from "../../src/views/message.ts";
import { queueLines } from "../../src/views/queue.ts";
import { cutLines, olderLines, ruleLine } from "../../src/views/rule.ts";
import { statusLine } from "../../src/views/status.ts";
import { tasksLines } from "../../src/views/tasks.ts";
import { Story } from "../app/story.ts";
import { DIFF, LONG_DIFF, OUTPUT, PLAN } from "./scene-texts.ts";
import { contextOf } from "./shown-views.ts";

type Context = ReturnType<typeof contextOf>;

/** Every view with contents as they come, or with the same foreign text in each place. */
export type Scene = (context: Context) => Line[];

const usage = {
  inputTokens: 38_000,
  outputTokens: 3_000,
  cacheReadTokens: 31_540,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};
const display = new Story().now.display;

const ended = (
  toolName: string,
  args: ToolArgs,
  result: ToolResult,
  more: { isError?: boolean; unknown?: boolean; durationMs?: number } = {},
): Scene => {
  const outcome = { result, isError: false, unknown: false, durationMs: 100, ...more };
  return (context) => endedCallLines({ toolName, args }, outcome, context);
};
type ToolArgs = Parameters<typeof endedCallLines>[0]["args"];

const agent = (threadId: string, fields: Partial<ActiveSubagent>): ActiveSubagent => ({
  threadId,
  parentThreadId: "t1",
  agentName: threadId,
  path: [],
  task: "",
  agentId: null,
  status: "running",
  startedAt: 0,
  endedAt: null,
  durationMs: null,
  text: "",
  toolCalls: [],
  usage: { ...usage, inputTokens: 0, outputTokens: 0 },
  pendingApprovals: {},
  pendingSuspensions: {},
  ...fields,
});

const byId = (agents: ActiveSubagent[]) => Object.fromEntries(agents.map((one) => [one.threadId, one]));
const running = (fields: Partial<HarnessDisplayState>): HarnessDisplayState => ({
  ...display,
  status: "running",
  isRunning: true,
  ...fields,
});
const tool = (id: string, fields: object) =>
  ({
    toolCallId: id,
    toolName: "task",
    args: {},
    status: "pending",
    forChildren: false,
    partialResult: null,
    ...fields,
  }) as HarnessDisplayState["activeTools"][string];
const approval = {
  threadId: "t1",
  toolCallId: "c",
  toolName: "execute",
  args: { command: "npm test" },
  preview: null,
  skill: null,
  category: "execute",
  digest: "",
  suggestion: null,
  decisions: [],
  path: [],
  seq: 1,
  at: 0,
} as const;
const inbox = (content: string, delivery: "send" | "steer" | "follow_up") => ({
  inputId: content,
  delivery,
  content,
  files: [],
  note: false,
  by: null,
  at: 0,
  dueAt: null,
});

/** The views with what an agent, a tool or a user may say. */
export const scenes: Record<string, Scene> = {
  "a user's message": (c) => userLines({ content: [{ type: "text", text: "why does the test fail?" }] }, c),
  "a long message with files": (c) =>
    userLines(
      {
        content: [
          {
            type: "text",
            text: "This is what I see, in several lines of which one is long enough to be wrapped:\n\n  at sum (sum.ts:12)",
          },
          { type: "file", mediaType: "image/png", filename: "screenshot.png" },
        ],
      },
      c,
    ),
  "a note": (c) => noteLines({ content: [{ type: "text", text: "You are in the mode build.\nUse any tool." }] }, c),
  "a thought": (c) => [thoughtLine(4_200, c), thoughtLine(undefined, c)],
  "what happens to answers": (c) => [...interruptedLines(c), ...discardedLines(c)],
  "an answer": (c) =>
    new OpenAnswer("m").settle(
      {
        id: "m",
        role: "assistant",
        seq: 1,
        at: 0,
        interrupted: false,
        by: null,
        outcomes: {},
        content: [
          { type: "reasoning", text: "Hm." },
          { type: "text", text: "The **loop** starts at `1`:\n\n```ts\nfor (let i = 1; i < n; i++)\n```" },
        ],
      },
      display,
      c,
    ).lines,
  "a read": ended("read_file", { file_path: "src/sum.ts" }, { content: "1\tconst" }),
  "an edit": ended(
    "edit_file",
    { file_path: "src/sum.ts", old_string: "1", new_string: "0" },
    { content: "Edited.", details: { diff: DIFF } },
    { durationMs: 20 },
  ),
  "a long edit": ended(
    "write_file",
    { file_path: "src/a-file-with-a-rather-long-name.ts" },
    { content: "Written.", details: { diff: LONG_DIFF } },
  ),
  "a command": ended(
    "execute",
    { command: "npm test -- --grep sum" },
    { content: `Exit code 0 after 8.1 s.\n${OUTPUT}`, details: { exit: { code: 0 } } },
    { durationMs: 8_100 },
  ),
  "a command that failed": ended(
    "execute",
    { command: "npm test" },
    {
      content: "Exit code 1 after 62.0 s.\nnot ok 1 - sums\n  expected 3\n  actual 2\n",
      details: { exit: { code: 1 } },
    },
    { durationMs: 62_000 },
  ),
  "a command of several lines": ended(
    "execute",
    { command: "cat > notes.md <<EOF\none\ntwo\nEOF" },
    { content: "Ended by SIGKILL after 0.1 s.", details: { exit: { code: null, signal: "SIGKILL" } } },
  ),
  "a command at its time limit": ended(
    "execute",
    { command: "sleep 1000" },
    { content: "Ended by the time limit, after 120.0 s.", details: { exit: { code: null, timedOut: true } } },
    { durationMs: 120_000 },
  ),
  "a command in the background": ended(
    "execute",
    { command: "npm start", background: true },
    { content: "Started cmd-7.", details: { id: "cmd-7" } },
  ),
  "a search": ended("grep", { pattern: "TODO", path: "src" }, { content: "3 files" }),
  "a call that failed": ended(
    "edit_file",
    { file_path: "src/sum.ts" },
    { content: "old_string was not found in src/sum.ts.\nThe most similar lines are:\n12\tfor\n13\tlet\n14\tvar" },
    { isError: true },
  ),
  "a call that was denied": ended(
    "execute",
    { command: "rm -rf /" },
    { content: "Denied by a rule.", details: { code: "PERMISSION_DENIED" } },
    { isError: true, durationMs: 0 },
  ),
  "a call that was declined": ended(
    "execute",
    { command: "rm -rf /" },
    { content: "Use the tool delete.", details: { code: "DECLINED" } },
    { isError: true, durationMs: 0 },
  ),
  "a plan that was approved": ended("submit_plan", PLAN, {
    content: "The plan was approved. Carry it out now.",
    details: { answer: { action: "approved" } },
  }),
  "a plan that was declined": ended("submit_plan", PLAN, {
    content: "The plan was rejected. The user says: test it first",
    details: { answer: { action: "rejected", feedback: "test it first" } },
  }),
  "a call whose outcome is unknown": ended(
    "execute",
    { command: "npm publish" },
    { content: "Aborted while it ran." },
    { isError: true, unknown: true, durationMs: 0 },
  ),
  "a call without a result": (c) => [lostCallLine({ toolName: "execute", args: { command: "ls" } }, c)],
  "a tool of one's own": ended("lookup_customer", { customer: { no: 7 }, region: "EU" }, { content: "Ada" }),
  "the task list": ended(
    "write_todos",
    {
      todos: [
        { content: "Read the code", status: "completed" },
        { content: "Run the tests", status: "in_progress", activeForm: "Running the tests" },
        { content: "Fix it", status: "pending" },
      ],
    },
    { content: "1 of 3" },
  ),
  "the first task list": ended(
    "write_todos",
    {
      todos: [
        { content: "Read the code", status: "in_progress", activeForm: "Reading the code" },
        { content: "Fix it", status: "pending" },
      ],
    },
    { content: "0 of 2" },
  ),
  "the last task list": ended(
    "write_todos",
    { todos: [{ content: "Read the code", status: "completed" }] },
    { content: "1 of 1" },
  ),
  "an edit of which the journal has the beginning": ended(
    "write_file",
    { file_path: "src/a.ts" },
    { content: "Written.", details: { diff: `${LONG_DIFF}\\ 120 more lines\n` } },
  ),
  "the report of a subagent": ended(
    "task",
    { agent: "reviewer", prompt: "Review src." },
    { content: "<task_result>\nTwo findings:\n- a\n- b\n- c\n- d\n</task_result>" },
    { durationMs: 31_000 },
  ),
  "an answered question": ended("ask_user", { question: "Which database?" }, { content: "sqlite" }, { durationMs: 0 }),
  "calls that have not ended": (c) => [
    ...liveCallLines({ toolName: "read_file", args: { file_path: "src/sum.ts" } }, { kind: "pending" }, c),
    ...liveCallLines({ toolName: "execute", args: { command: "rm -rf build" } }, { kind: "waiting" }, c),
    ...liveCallLines(
      { toolName: "execute", args: { command: "npm test" } },
      { kind: "running", since: c.now - 8_000, output: OUTPUT },
      c,
    ),
    streamedCallLine("write_file", `{"file_path": "src/sum.ts", "content": "${"x".repeat(2_000)}`, c),
  ],
  tasks: (c) =>
    tasksLines(
      [
        { content: "Read the code", status: "completed" },
        { content: "Fix it", status: "pending" },
      ],
      c,
    ),
  subagents: (c) => {
    const reviewer = agent("reviewer", {
      startedAt: c.now - 14_000,
      toolCalls: [{ toolCallId: "1", toolName: "read_file", args: { file_path: "src/a.ts" }, isError: null }],
      usage: { ...usage, inputTokens: 8_000, outputTokens: 1_000 },
    });
    const security = agent("security", {
      parentThreadId: "reviewer",
      status: "complete",
      endedAt: 1,
      durationMs: 31_000,
      text: "2 findings",
    });
    const style = agent("style", {
      parentThreadId: "reviewer",
      startedAt: c.now - 3_000,
      toolCalls: [{ toolCallId: "1", toolName: "grep", args: { pattern: "TODO" }, isError: null }],
    });
    const tests = agent("tests", {
      status: "waiting",
      startedAt: c.now - 3_000,
      pendingApprovals: { c: { ...approval, decisions: [] } },
    });
    const parked = agent("parked", { status: "parked", startedAt: c.now - 3_000 });
    const activeTools = { a: tool("a", {}), b: tool("b", {}), c: tool("c", { status: "waiting", forChildren: true }) };
    return agentsLines(
      { threadId: "t1", activeSubagents: byId([reviewer, security, style, tests, parked]), activeTools },
      c,
    );
  },
  "queued inputs": (c) =>
    queueLines(
      {
        turnId: "turn",
        status: "running",
        inbox: [inbox("also rename it", "steer"), inbox("then commit\nand push", "follow_up")],
      },
      c,
    ),
  "many queued inputs": (c) =>
    queueLines(
      { turnId: "turn", status: "running", inbox: ["a", "b", "c", "d"].map((one) => inbox(one, "follow_up")) },
      c,
    ),
  "an input that begins a turn": (c) =>
    queueLines({ turnId: null, status: "running", inbox: [inbox("fix it", "send")] }, c),
  "the status line": (c) => [
    statusLine(
      {
        modeId: "build",
        modelId: "anthropic/claude-sonnet-5",
        tokenUsage: usage,
        cost: 0.12,
        omProgress: null,
        yolo: false,
        inbox: [inbox("a", "steer")],
      },
      { budget: 2, branch: "main" },
      c,
    ),
    statusLine(
      {
        modeId: "build",
        modelId: "offline",
        tokenUsage: usage,
        cost: null,
        omProgress: { messageTokens: 18, messageLimit: 30, observationTokens: 0, observationLimit: 0 },
        inbox: [],
        yolo: true,
      },
      {},
      c,
    ),
  ],
  activities: (c) => {
    const streaming = (type: "text" | "reasoning") => ({
      id: "m",
      role: "assistant" as const,
      content: [{ type, text: "x" }],
    });
    const asked = { ...c.activity, asked: c.now - 12_000 };
    const execute = tool("e", { toolName: "execute", args: { command: "npm test" }, status: "running" });
    return [
      ...activityLines(running({}), c.activity, c),
      ...activityLines(running({}), asked, c),
      ...activityLines(running({ currentMessage: streaming("reasoning") }), asked, c),
      ...activityLines(running({ currentMessage: streaming("text") }), asked, c),
      ...activityLines(running({}), { ...asked, retry: { attempt: 2, due: c.now + 7_500, message: "Overloaded" } }, c),
      ...activityLines(running({ activeTools: { e: execute } }), { ...c.activity, started: { e: c.now - 3_000 } }, c),
      ...activityLines(running({ activeTools: { e: execute, f: execute } }), c.activity, c),
      ...activityLines(
        running({ activeSubagents: byId([agent("reviewer", { startedAt: c.now - 70_000 })]) }),
        c.activity,
        c,
      ),
      ...activityLines(running({}), { ...c.activity, compacting: c.now - 3_000 }, c),
      ...activityLines(running({}), { ...asked, stopping: true }, c),
      ...activityLines(running({ status: "waiting", pendingApproval: approval }), c.activity, c),
      ...activityLines(running({ status: "idle" }), c.activity, c),
    ];
  },
  failures: (c) => [
    ...errorLines(
      {
        code: "PROVIDER_AUTH",
        message: "401: invalid x-api-key. Check the API key of this provider.",
        retryable: false,
      },
      c,
    ),
    ...errorLines({ code: "PROVIDER_UNAVAILABLE", message: "Overloaded.", retryable: true }, c),
    ...endLines({ reason: "budget", detail: "cost: $2 of $2" }, c),
    ...endLines({ reason: "max_steps", detail: undefined }, c),
    ...endLines({ reason: "complete", detail: undefined }, c),
  ],
  rules: (c) => [
    ruleLine("Fix the sum", c),
    ruleLine("", c),
    ...olderLines(1, { atLeast: false }, c),
    ...olderLines(190, { atLeast: true }, c),
    ...cutLines(12, c),
  ],
};
