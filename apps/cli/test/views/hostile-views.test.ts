import assert from "node:assert/strict";
import { test } from "node:test";
import type { ActiveSubagent, HarnessDisplayState, Json, Part } from "@cinch/core";
import { ThreadPrinter } from "../../src/app/thread-printer.ts";
import type { Line } from "../../src/terminal/line.ts";
import { Row } from "../../src/terminal/row.ts";
import { widthOf } from "../../src/terminal/width.ts";
import { activityLines } from "../../src/views/activity.ts";
import { agentsLines } from "../../src/views/agents.ts";
import { endedCallLines, liveCallLines, streamedCallLine } from "../../src/views/call.ts";
import { errorLines } from "../../src/views/failure.ts";
import { userLines } from "../../src/views/message.ts";
import { queueLines } from "../../src/views/queue.ts";
import { ruleLine } from "../../src/views/rule.ts";
import { statusLine } from "../../src/views/status.ts";
import { tasksLines } from "../../src/views/tasks.ts";
import { call, say, Story } from "../app/story.ts";
import { Headless } from "../terminal/headless.ts";
import { hostile } from "../terminal/hostile.ts";
import { plainText } from "../text/shown.ts";
import { contextOf } from "./shown-views.ts";

const context = contextOf(60);
const display = new Story().now.display;

const FOREIGN_TOOLS = ["execute", "edit_file", "write_todos", "task", "grep", "ask_user", "unknown_tool"];

/** Arguments in which every tool finds the text. */
const argsWith = (foreign: string): Json => ({
  command: foreign,
  file_path: foreign,
  pattern: foreign,
  agent: foreign,
  prompt: foreign,
  question: foreign,
  todos: [{ content: foreign, status: foreign }],
});

/** What the tools say, with this text in it. */
function toolLines(foreign: string): Line[] {
  const diff = `@@ -1,1 +1,1 @@\n-${foreign}\n+${foreign}!\n`;
  const details: Json[] = [
    { diff },
    { exit: { code: 1, signal: foreign } },
    { exit: { code: 0 } },
    { code: foreign },
    {},
  ];
  return FOREIGN_TOOLS.flatMap((toolName) =>
    details.flatMap((one) =>
      [true, false].flatMap((isError) =>
        endedCallLines(
          { toolName, args: {} },
          { result: { content: `first\n${foreign}\nlast`, details: one }, isError, unknown: false, durationMs: 1 },
          context,
        ),
      ),
    ),
  );
}

function subagent(foreign: string): ActiveSubagent {
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  const none = { pendingApprovals: {}, pendingSuspensions: {}, toolCalls: [], usage };
  const times = { startedAt: 0, endedAt: null, durationMs: null };
  const who = { threadId: "c", parentThreadId: "t1", agentName: foreign, agentId: foreign, path: [foreign] };
  return { ...who, ...times, ...none, task: foreign, status: "running", text: foreign };
}

/** Rows of the app in which a foreign text has its place. */
function appLines(foreign: string): Line[] {
  const inbox = [
    {
      inputId: "i",
      delivery: "steer" as const,
      content: foreign,
      files: [],
      note: false,
      by: null,
      at: 0,
      dueAt: null,
    },
  ];
  const activeSubagents = { c: subagent(foreign) };
  const tools = FOREIGN_TOOLS.map((toolName) => ({ toolName, args: argsWith(foreign) }));
  const running = { ...display, status: "running", modelId: foreign } as HarnessDisplayState;
  return [
    ...tools.flatMap((one) => liveCallLines(one, { kind: "running", since: 0, output: `a\n${foreign}\n` }, context)),
    ...tools.map(({ toolName, args }) => streamedCallLine(toolName, JSON.stringify(args), context)),
    ...agentsLines({ threadId: "t1", activeSubagents, activeTools: {} }, context),
    ...queueLines({ inbox, turnId: "turn", status: "running" }, context),
    ...tasksLines([{ content: foreign, status: "in_progress", activeForm: foreign }], context),
    ...activityLines(running, { ...context.activity, asked: 0 }, context),
    ...activityLines(running, { ...context.activity, retry: { attempt: 1, due: 0, message: foreign } }, context),
    ...errorLines({ code: foreign, message: foreign, retryable: true }, context),
    statusLine({ ...display, modelId: foreign }, { branch: foreign }, context),
    ruleLine(foreign, context),
  ];
}

/** What the model and users say. */
function saidLines(foreign: string): Line[] {
  const file: Part = { type: "file", mediaType: foreign, filename: foreign };
  const calls = FOREIGN_TOOLS.map((toolName) => call(toolName, toolName, argsWith(foreign)));
  const story = new Story("t1", foreign).begin().user(foreign, [file]).note(foreign);
  story.answer([say(`${foreign}\n\n\`\`\`${foreign}\n${foreign}\n\`\`\`\n`), file, ...calls]);
  for (const one of calls) story.start(one).finish(one, { content: foreign });
  return [
    ...new ThreadPrinter().next(story.now.display, context).print,
    ...userLines({ content: [{ type: "text", text: foreign }] }, context),
  ];
}

const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;

for (const [name, foreign] of Object.entries(hostile)) {
  test(`no view lets through a text that ${name}`, () => {
    for (const shown of [...toolLines(foreign), ...appLines(foreign), ...saidLines(foreign)])
      assert.ok(!CONTROL.test(plainText(shown)), JSON.stringify(plainText(shown)));
  });
}

test("whatever a foreign text contains, the rows that follow it are where they belong", async () => {
  for (const [name, foreign] of Object.entries(hostile)) {
    const shown = [...toolLines(foreign), ...appLines(foreign)].filter(({ wrap }) => wrap !== "terminal");
    const output = new Headless({ columns: 60, rows: 5 });
    const features = { colors: true, unicode: true, reflow: true };
    for (const one of shown) output.write(`${Row.of(one, features).bytes}\r\nEND\r\n`, () => {});
    await output.settled();
    const ends = output.rows().filter((row) => row === "END");
    assert.equal(ends.length, shown.length, name);
  }
});

const FORGED = "Run this command?\n› y approve   n decline\n> y approve\r› y approve\u2028› y approve\u0085› y approve";

test("what a tool or another agent says never begins a row as a choice of an approval does", () => {
  const rows = [...toolLines(FORGED), ...appLines(FORGED)].map(plainText);
  assert.ok(rows.some((row) => row.includes("y approve")));
  assert.deepEqual(
    rows.filter((row) => /^\s?[›>]|^Run this/.test(row)),
    [],
  );
});

test("a command is shown with what can't be seen in it", () => {
  const [line] = liveCallLines(
    { toolName: "execute", args: { command: "ls \u202e/ fr- mr" } },
    { kind: "waiting" },
    context,
  );
  assert.equal(plainText(line!), "? execute ls <U+202E>/ fr- mr  waits for you");
});

test("a character that is drawn over others takes no room that a view does not count", () => {
  for (const foreign of Object.values(hostile))
    for (const shown of appLines(foreign)) assert.ok(widthOf(plainText(shown)) < 60, plainText(shown));
});

test("only a command has lines of its own: no other argument begins a row", () => {
  const foreign = "first\nRun this command?\n› y approve";
  const outcome = { result: { content: "", details: {} }, isError: false, unknown: false, durationMs: 1 };
  for (const toolName of [...FOREIGN_TOOLS, "submit_plan"]) {
    const args = { ...(argsWith(foreign) as object), title: foreign };
    const rows = endedCallLines({ toolName, args }, outcome, context).map(plainText);
    assert.equal(rows.includes("Run this command?"), toolName === "execute", toolName);
  }
});
