import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, defineTool, Harness, memoryStore, type Session } from "@cinch/core";
import { call, finish, hang, inTurn, parts, say, script, type ScriptedModel, type Step } from "@cinch/testkit";
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

async function harness(model: ScriptedModel) {
  const agent = new Agent({ name: "tester", model, instructions: "Test.", tools: { look } });
  const made = new Harness({ id: "test", agent, storage: memoryStore() });
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

test(
  "a turn with thoughts, calls and a retry is printed as it happens, for each seat",
  { timeout: 30_000 },
  async () => {
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
  },
);

test("an answer that the user stops says so, and a rewind shows what is left", { timeout: 30_000 }, async () => {
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

test("a call that waits for the user is live, and is printed with the answer", { timeout: 30_000 }, async () => {
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
