import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as tick } from "node:timers/promises";
import { defineTool } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { stillClock } from "../model/providers-clock.ts";
import { asking, harness, next } from "../support.ts";

/** The store of a process that learns late what others have appended, and is slow to act on it. */
class SlowStore extends MemoryStore {
  override async append(...args: Parameters<MemoryStore["append"]>): ReturnType<MemoryStore["append"]> {
    for (let n = 0; n < 4; n++) await tick();
    return super.append(...args);
  }
}

/** A live process that asked, and one that answers. The tool is slow, and stops when its signal is aborted. */
async function seats() {
  const data = new MemoryData();
  const runs: string[] = [];
  const act = defineTool({
    description: "Acts",
    input: z.object({}),
    async execute(_, { signal }) {
      runs.push("begun");
      for (let n = 0; n < 20; n++) {
        await tick();
        signal.throwIfAborted();
      }
      return "done";
    },
  });
  const open = async (storage = new MemoryStore(data)) => {
    const model = script(call(["act", {}, "a"], ["ask", { question: "Which?" }, "b"]), say("done"));
    const permissions = [{ toolName: "ask", policy: "allow" as const }];
    return harness({ model, tools: { act, ask: asking }, storage, permissions });
  };
  const asks = await open(new SlowStore(data));
  const turn = asks.sendMessage({ content: "go" });
  await asks.settled();
  const answers = await open();
  await answers.switchThread({ threadId: asks.getCurrentThreadId()! });
  return { asks, answers, turn, runs };
}

test("a process that answers and closes, however soon, leaves no call with an unknown outcome", async () => {
  for (let late = 0; late < 12; late++) {
    const { asks, answers, turn, runs } = await seats();
    await answers.respondToToolApproval({ decision: "approve" });
    await answers.respondToToolSuspension({ resumeData: "this" });
    for (let n = 0; n < late; n++) await tick();
    await answers.close({ drainMs: 0 });
    const { reason } = await turn;
    const ends = asks.seen.filter((event) => event.type === "tool_end");
    assert.deepEqual(
      [reason, runs, ends.map(({ result, unknown = false }) => [result.content, unknown])],
      [
        "complete",
        ["begun"],
        [
          ["done", false],
          ["answer: this", false],
        ].toSorted(),
      ],
      `left ${late} ticks after it had answered`,
    );
    await asks.close();
  }
});

test("if the process that asked is gone, the one that answered drives the turn", async () => {
  const { asks, answers, turn, runs } = await seats();
  turn.catch(() => undefined);
  await asks.close();
  const ended = next(answers, "agent_end");
  await answers.respondToToolApproval({ decision: "approve" });
  await answers.respondToToolSuspension({ resumeData: "this" });
  assert.equal((await ended).reason, "complete");
  assert.deepEqual(runs, ["begun"]);
  await answers.close();
});

test("an answer to a thread that no process has open is acted on, although the session is at another thread", async () => {
  const { asks, answers, turn, runs } = await seats();
  turn.catch(() => undefined);
  const threadId = asks.getCurrentThreadId()!;
  await asks.close();
  await answers.createThread();
  await answers.respondToToolApproval({ threadId, decision: "approve" });
  await answers.respondToToolSuspension({ threadId, resumeData: "this" });
  await answers.switchThread({ threadId });
  assert.equal((await answers.settled()).status, "idle");
  assert.deepEqual(runs, ["begun"]);
  await answers.close();
});

/** A process with one pending question, and a function that opens others with the same configuration. */
async function asked(kind: "approval" | "suspension", options: object = {}) {
  const data = new MemoryData();
  const runs: string[] = [];
  const act = defineTool({
    description: "Acts",
    input: z.object({}),
    async execute(_, { signal, suspend, resumed }) {
      if (kind === "suspension" && !resumed) return suspend({});
      runs.push("begun");
      for (let n = 0; n < 20; n++) {
        await tick();
        signal.throwIfAborted();
      }
      return "done";
    },
  });
  const permissions = kind === "suspension" ? [{ toolName: "act", policy: "allow" as const }] : [];
  const open = (storage = new MemoryStore(data)) => {
    const model = script(call("act", {}, "a"), say("done"));
    return harness({ model, tools: { act }, storage, permissions, ...options });
  };
  const asks = await open(new SlowStore(data));
  const turn = asks.sendMessage({ content: "go" });
  await asks.settled();
  const answer = async (from: typeof asks) => {
    if (kind === "approval") await from.respondToToolApproval({ decision: "approve" });
    else await from.respondToToolSuspension({ resumeData: "this" });
  };
  return { asks, turn, runs, answer, open };
}

for (const kind of ["approval", "suspension"] as const) {
  test(`a process that answers one ${kind} and closes does not interrupt the call that it answered`, async () => {
    for (let late = 0; late < 12; late++) {
      const { asks, turn, runs, answer, open } = await asked(kind);
      const answers = await open();
      await answers.switchThread({ threadId: asks.getCurrentThreadId()! });
      await answer(answers);
      for (let n = 0; n < late; n++) await tick();
      await answers.close({ drainMs: 0 });
      await turn;
      const ends = asks.seen.flatMap((event) => (event.type === "tool_end" ? [event.result.content] : []));
      assert.deepEqual([runs, ends], [["begun"], ["done"]], `left ${late} ticks after it had answered`);
      await asks.close();
    }
  });

  test(`a process continues with one answered ${kind}, if the process that asked is gone`, async () => {
    const { asks, turn, runs, answer, open } = await asked(kind);
    turn.catch(() => undefined);
    const threadId = asks.getCurrentThreadId()!;
    await asks.close();
    await using answers = await open();
    await answers.switchThread({ threadId });
    await answer(answers);
    assert.equal((await answers.settled()).status, "idle");
    assert.deepEqual(runs, ["begun"]);
  });

  test(`the process that asked continues with its own answer (${kind}) without waiting for other answers`, async () => {
    const { asks, turn, runs, answer } = await asked(kind, { clock: stillClock() });
    await answer(asks);
    assert.equal((await turn).reason, "complete");
    assert.deepEqual(runs, ["begun"]);
    await asks.close();
  });
}
