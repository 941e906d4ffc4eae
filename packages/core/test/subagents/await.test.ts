import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Agent,
  CinchError,
  Harness,
  memoryStore,
  systemClock,
  textOf,
  type Clock,
  type HarnessMessage,
} from "@cinch/core";
import { call, fail, hang, say, script, scriptedBy } from "@cinch/testkit";
import { countingClock } from "../counting-clock.ts";
import { next } from "../support.ts";
import { wrapped } from "../wrapped-store.ts";

const outcomesOf = (messages: readonly HarnessMessage[]) => messages.flatMap(({ outcomes }) => Object.values(outcomes));

/** Children by their task: "ok" succeeds, "bad" fails, "stuck" never ends. */
const children = () =>
  new Agent({
    name: "worker",
    tools: {},
    model: scriptedBy(({ prompt }) => {
      const task = JSON.stringify(prompt);
      if (task.includes("bad")) return fail(Object.assign(new Error("broken"), { statusCode: 400 }));
      return task.includes("stuck") ? hang("…") : say("fine");
    }),
  });

async function awaiting(
  tasks: readonly string[],
  mode: string,
  more: object = {},
  storage = memoryStore(),
  clock: Clock = systemClock,
) {
  const spawn = tasks.map((prompt): [string, unknown] => ["task", { agent: "worker", prompt, background: true }]);
  const ids = tasks.map((_, at) => `bg-${at + 1}`);
  const model = script(call(...spawn), call("agent_await", { ids, mode, ...more }), say("Done."));
  const agent = new Agent({ name: "dev", model, subagents: [children()], subagentBackground: { wake: false } });
  const h = new Harness({ id: "t", agent, storage, clock });
  const turn = h.sendMessage({ content: "go" });
  return { h, turn, ids };
}

for (const { tasks, mode, isError, statuses } of [
  { tasks: ["ok", "ok"], mode: "all", isError: false, statuses: ["complete", "complete"] },
  { tasks: ["stuck", "bad"], mode: "all", isError: true, statuses: ["running", "error"] },
  { tasks: ["ok", "bad"], mode: "allSettled", isError: false, statuses: ["complete", "error"] },
  { tasks: ["stuck", "ok"], mode: "any", isError: false, statuses: ["running", "complete"] },
  { tasks: ["bad", "bad"], mode: "any", isError: true, statuses: ["error", "error"] },
  { tasks: ["stuck", "bad"], mode: "race", isError: true, statuses: ["running", "error"] },
  { tasks: ["stuck", "ok"], mode: "race", isError: false, statuses: ["running", "complete"] },
])
  test(`agent_await with ${mode} for ${tasks.join(" and ")} ${isError ? "fails" : "succeeds"}`, async () => {
    const { h, turn, ids } = await awaiting(tasks, mode);
    assert.equal((await turn).reason, "complete");
    const awaited = outcomesOf(h.getDisplayState().messages).at(-1)!;
    const found = ids.map(
      (id) => new RegExp(`^${id} \\(worker\\): (\\w+)`, "m").exec(textOf(awaited.result.content))?.[1],
    );
    // Calls of one answer run at the same time, so that either may get the first id.
    assert.deepEqual([awaited.isError, found.toSorted()], [isError, statuses.toSorted()]);
    await h.close();
  });

test("agent_await ends at its timeout with the results so far, and holds no lease meanwhile", async () => {
  const { h, turn } = await awaiting(["ok", "stuck"], "all", { timeout_ms: 300 });
  await turn;
  const text = textOf(outcomesOf(h.getDisplayState().messages).at(-1)!.result.content);
  assert.match(text, /^The wait has reached its timeout\. Not all of them have ended\.\n\nbg-1 \(worker\): complete\n/);
  await h.close();
});

test("agent_await whose time is over while the store is away ends when the store is back", async () => {
  let isAway = false;
  const away = async (method: string) => {
    if (method === "append" && isAway) throw new CinchError("STORE_BUSY", "The database does not answer.");
  };
  const { h, turn } = await awaiting(["stuck"], "all", { timeout_ms: 300 }, wrapped(memoryStore(), away));
  const failed = new Promise<void>((resolve) => {
    h.subscribe((event) => {
      if (event.type === "tool_suspended") isAway = true;
      if (event.type === "info" && event.message.includes("could not be continued")) resolve();
    });
  });
  await failed;
  isAway = false;
  assert.equal((await turn).reason, "complete");
  await h.close();
});

test("a steer ends agent_await with the results so far", async () => {
  const { h, turn } = await awaiting(["stuck"], "all");
  await new Promise<void>((resolve) => h.subscribe((event) => event.type === "tool_suspended" && resolve()));
  assert.deepEqual([h.getDisplayState().status, h.getDisplayState().pendingSuspensions], ["running", {}]);
  await assert.rejects(h.respondToToolSuspension({ resumeData: "x" }), { code: "NOT_PENDING" });
  await h.steer({ content: "What is taking so long?" });
  assert.equal((await turn).reason, "complete");
  const text = textOf(outcomesOf(h.getDisplayState().messages).at(-1)!.result.content);
  assert.match(text, /^The wait was ended by a new message\./);
  await h.close();
});

test("a background child that is at work for too long is stopped, and its end says so", async () => {
  const model = script(
    call("task", { agent: "worker", prompt: "stuck", background: true }),
    call("agent_await", { ids: ["bg-1"], mode: "allSettled" }),
    say("Done."),
  );
  const agent = new Agent({ name: "dev", model, subagents: [children()], subagentBackground: { timeout: 200 } });
  const h = new Harness({ id: "t", agent });
  await h.sendMessage({ content: "go" });
  const text = textOf(outcomesOf(h.getDisplayState().messages).at(-1)!.result.content);
  assert.match(text, /^bg-1 \(worker\): timeout\n/);
  await h.close();
});

test("agent_await that is due while the store fails is tried again by one timer, however many causes there are to look", async () => {
  let isAway = false;
  const away = async (method: string) => {
    if (method === "append" && isAway) throw new CinchError("STORE_FAILED", "The disk has an error.");
  };
  const clock = countingClock();
  const quick = { ...clock, after: (ms: number, callback: () => void) => clock.after(ms === 500 ? 10 : ms, callback) };
  const tasks = ["stuck", "stuck"];
  const { h, turn } = await awaiting(tasks, "all", { timeout_ms: 300 }, wrapped(memoryStore(), away), quick);
  let failures = 0;
  const pending: number[] = [];
  const failedOften = new Promise<void>((resolve) => {
    h.subscribe((event) => {
      if (event.type === "tool_suspended") isAway = true;
      if (event.type !== "info" || !event.message.includes("could not be")) return;
      pending.push(clock.pending.size);
      if (++failures === 200) resolve();
    });
  });
  await next(h, "tool_suspended");
  // Its end can't be recorded either, so it is followed again and again.
  const [child] = Object.values(h.getDisplayState().activeSubagents);
  await h.deleteThread({ threadId: child!.threadId }).catch(() => undefined);
  await failedOften;
  assert.ok(Math.max(...pending) <= 10, `timers: ${pending.join(" ")}`);
  isAway = false;
  assert.equal((await turn).reason, "complete");
  await h.close();
});
