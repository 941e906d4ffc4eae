import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Agent, defineTool, Harness, memoryStore, type HarnessConfig, type Session } from "@cinch/core";
import { call, finish, hang, inTurn, parts, say, script, type ScriptedModel, type Step } from "@cinch/testkit";
import { localWorkspace } from "@cinch/workspace";
import * as z from "zod";
import { noActivity, reduceActivity } from "../../src/app/activity.ts";
import { ThreadPrinter } from "../../src/app/thread-printer.ts";
import { plainText } from "../text/shown.ts";

const look = defineTool({
  description: "Looks",
  category: "read",
  input: z.object({ path: z.string() }),
  execute: ({ path }) => `looked at ${path}`,
});

async function harness(model: ScriptedModel, config: Partial<HarnessConfig> = {}) {
  const subagents = [
    { name: "reviewer", description: "Reviews.", model: script(say("2 findings")), instructions: "Review." },
  ];
  const agent = new Agent({ name: "tester", model, instructions: "Test.", tools: { look }, subagents });
  const made = new Harness({ id: "test", agent, storage: memoryStore(), ...config });
  await made.init();
  return Object.assign(made, { [Symbol.asyncDispose]: () => made.close() });
}

/** A terminal at a thread, with a frame after each event. */
class Seat {
  readonly printed: string[] = [];
  live: string[] = [];
  readonly #printer = new ThreadPrinter();
  readonly #session: Pick<Session, "subscribe" | "getDisplayState">;
  #activity = noActivity;

  constructor(session: Pick<Session, "subscribe" | "getDisplayState">) {
    this.#session = session;
    session.subscribe((event) => {
      this.#activity = reduceActivity(this.#activity, event);
      this.draw();
    });
  }

  draw(): void {
    const context = { width: 60, rows: 24, now: 0, unicode: true, activity: this.#activity };
    const { print, live } = this.#printer.next(this.#session.getDisplayState(), context);
    this.printed.push(...print.map(plainText));
    this.live = live.map(plainText);
  }

  /** Settles when the live part has this text. */
  async shows(text: string): Promise<void> {
    while (!this.live.join("\n").includes(text)) await new Promise((resolve) => setImmediate(resolve));
  }
}

const withoutTimes = (lines: readonly string[]): string[] => lines.map((line) => line.replace(/\s+\d+(\.\d)? s$/, ""));

const broken: Step = parts(
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: "A false start.\n\nAnd so" },
  { type: "error", error: Object.assign(new Error("overloaded"), { isRetryable: true }) },
);

test("a turn with thoughts, calls and a retry is printed as it happens, for each seat", async () => {
  const thinks = parts(
    { type: "reasoning-start", id: "r" },
    { type: "reasoning-delta", id: "r", delta: "Hm." },
    { type: "reasoning-end", id: "r" },
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "I look at both.\n" },
    { type: "text-end", id: "t" },
    { type: "tool-call", toolCallId: "a", toolName: "look", input: '{"path":"a.ts"}' },
    { type: "tool-call", toolCallId: "b", toolName: "look", input: '{"path":"b.ts"}' },
    finish("tool-calls"),
  );
  await using h = await harness(script(thinks, inTurn(broken, say("Both are **fine**.\n\nGood bye."))));
  await h.selectOrCreateThread();
  const seat = new Seat(h);
  seat.draw();
  const other = await h.createSession();
  await other.switchThread({ threadId: h.getCurrentThreadId()! });
  const second = new Seat(other);
  second.draw();
  await h.sendMessage({ content: "look at them" });
  const expected = [
    "You  look at them",
    "▸ thought",
    "I look at both.",
    "✓ look a.ts",
    "✓ look b.ts",
    "A false start.",
    "✗ the answer broke off and begins again:",
    "Both are fine.",
    "",
    "Good bye.",
  ];
  assert.deepEqual(withoutTimes(seat.printed), expected);
  assert.deepEqual(withoutTimes(second.printed), expected);
  assert.deepEqual(seat.live, []);
});

test("an answer that the user stops says so, and a rewind shows what is left", async () => {
  await using h = await harness(script(say("One."), hang("Two\n\nand a h")));
  await h.selectOrCreateThread();
  const seat = new Seat(h);
  seat.draw();
  await h.sendMessage({ content: "first" });
  const { seq } = h.getDisplayState();
  const turn = h.sendMessage({ content: "second" });
  await seat.shows("and a h");
  await h.abort();
  await turn;
  assert.deepEqual(seat.printed, [
    "You  first",
    "One.",
    "",
    "You  second",
    "Two",
    "",
    "and a h",
    "✗ interrupted: the answer ends here",
  ]);
  seat.printed.length = 0;
  await h.rewind({ toSeq: seq });
  seat.draw();
  assert.deepEqual(seat.printed.slice(1), ["You  first", "One."]);
  assert.match(seat.printed[0]!, /^──/);
});

test("a call that waits for the user is live, and is printed with the answer", async () => {
  await using h = await harness(script(call("ask_user", { question: "Which database?" }, "q"), say("Good.")));
  await h.selectOrCreateThread();
  const seat = new Seat(h);
  seat.draw();
  const turn = h.sendMessage({ content: "choose" });
  await seat.shows("waits for you");
  assert.deepEqual(seat.live, ["? ask_user Which database?  waits for you"]);
  await h.respondToToolSuspension({ toolCallId: "q", resumeData: "sqlite" });
  await turn;
  assert.deepEqual(withoutTimes(seat.printed), ["You  choose", "✓ ask_user Which database?", "  sqlite", "Good."]);
});

test("the tools of a workspace are shown by what they did", async () => {
  const root = mkdtempSync(join(tmpdir(), "cinch-views-"));
  writeFileSync(join(root, "sum.ts"), "let total = 0;\nfor (let i = 1; i < n; i++)\n  total += i;\n");
  const permissions = [{ operations: ["read" as const, "write" as const], paths: ["**/.env*"], mode: "deny" as const }];
  const workspace = localWorkspace({ root, permissions });
  const steps = [
    call("read_file", { file_path: "/sum.ts" }),
    call("edit_file", { file_path: "/sum.ts", old_string: "i = 1", new_string: "i = 0" }),
    call("execute", { command: "echo one; echo two" }),
    call("execute", { command: "echo wrong; exit 3" }),
    call("write_file", { file_path: "/.env", content: "KEY=1" }),
    call("edit_file", { file_path: "/none.ts", old_string: "a", new_string: "b" }),
    call("write_todos", { todos: [{ content: "Fix the sum", status: "completed" }] }),
    call("task", { agent: "reviewer", prompt: "Review sum.ts.\nWith care." }),
    say("Done."),
  ];
  try {
    await using h = await harness(script(...steps), { workspace });
    await h.selectOrCreateThread();
    await h.setState({ yolo: true });
    h.subscribe((event) => {
      if (event.type !== "tool_approval_required") return;
      h.respondToToolApproval({ toolCallId: event.toolCallId, decision: "approve" }).catch(assert.fail);
    });
    const seat = new Seat(h);
    seat.draw();
    await h.sendMessage({ content: "fix it" });
    assert.deepEqual(withoutTimes(seat.printed), [
      "You  fix it",
      "✓ read_file /sum.ts",
      "✓ edit_file /sum.ts  +1 −1",
      "  1   let total = 0;",
      "  2 - for (let i = 1; i < n; i++)",
      "  2 + for (let i = 0; i < n; i++)",
      "  3     total += i;",
      "✓ execute echo one; echo two",
      "  one",
      "  two",
      "✗ execute echo wrong; exit 3  exit 3",
      "  wrong",
      "✗ write_file /.env  denied",
      '  Denied: a rule forbids this call of "write_file". Do not',
      "  try to get around it.",
      "✗ edit_file /none.ts",
      "  There is no file or directory none.ts. Call ls on . to",
      "  see what is there.",
      "✓ Tasks  1 of 1 done",
      "  ✓ Fix the sum",
      "✓ task reviewer: Review sum.ts.",
      "  2 findings",
      "Done.",
    ]);
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 9 });
  }
});
