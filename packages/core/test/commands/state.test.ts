import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Agent,
  CinchError,
  Harness,
  memoryStore,
  newDisplayState,
  reduceDisplay,
  type Budget,
  type HarnessConfig,
  type HarnessEvent,
} from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { call, finish, parts, say, script, scriptedBy } from "@cinch/testkit";
import * as z from "zod";
import { harness, next, noting } from "../support.ts";

const code = (expected: string) => (error: unknown) => error instanceof CinchError && error.code === expected;
const shape = z.object({
  path: z.string(),
  count: z.number().default(0),
  deep: z.object({ a: z.number() }).optional(),
});

test("setState changes the given keys, durably, and each update is an event", async () => {
  const data = new MemoryData();
  const config = { model: script(say("hi")), stateSchema: shape, initialState: { path: "/" } };
  const first = await harness({ ...config, storage: memoryStore(data) });
  assert.deepEqual(first.getState(), { path: "/", count: 0, yolo: false });
  const changed = next(first, "state_changed");
  await first.setState({ count: 2 });
  assert.deepEqual((await changed).updates, { count: 2 });
  await first.setState({ yolo: true, deep: { a: 1 } });
  assert.deepEqual(first.getState(), { path: "/", count: 2, deep: { a: 1 }, yolo: true });
  await first.close();
  await using h = await harness({ ...config, storage: memoryStore(data) });
  await h.selectOrCreateThread();
  assert.deepEqual(h.getState(), { path: "/", count: 2, deep: { a: 1 }, yolo: true });
  await h.createThread();
  assert.deepEqual(h.getState(), { path: "/", count: 2, deep: { a: 1 }, yolo: true });
  await h.setState({ yolo: false });
  assert.equal(h.getState().yolo, false);
});

test("updates that do not fit the schema are refused as a whole", async () => {
  await using h = await harness({ model: script(say("hi")), stateSchema: shape, initialState: { path: "/" } });
  await h.setState({ count: 1 });
  for (const updates of [{ count: "2" }, { path: "/x", cuont: 3 }, { yolo: "yes" }, { deep: {} }, null, [1], "x"])
    await assert.rejects(
      h.setState(updates as Record<string, unknown>),
      code("INVALID_INPUT"),
      JSON.stringify(updates),
    );
  assert.deepEqual(h.getState(), { path: "/", count: 1, yolo: false });
  const agent = new Agent({ name: "a" });
  const bad: Partial<HarnessConfig>[] = [
    { stateSchema: shape, initialState: { path: 7 } },
    { initialState: { yolo: "no" } },
    { stateSchema: {} as never },
  ];
  for (const config of bad) assert.throws(() => new Harness({ id: "x", agent, ...config }), code("INVALID_CONFIG"));
});

test("two sessions that set the state at once lose no update", async () => {
  await using h = await harness({ model: script(say("hi")) });
  const { id: threadId } = await h.createThread();
  const other = await h.createSession({ threadId });
  await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 ? h : other).setState({ [`k${n}`]: n })));
  assert.equal(Object.keys(h.getState()).length, 21);
  assert.deepEqual(h.getState(), other.getState());
});

test("rules, YOLO and usage survive a rewind; a clone has the current rules, and neither grants nor usage", async () => {
  const { note, runs } = noting();
  const model = scriptedBy(({ prompt }) =>
    prompt.at(-1)?.role === "tool" ? say("done") : call("note", { what: "x" }),
  );
  await using h = await harness({
    model,
    tools: { note },
    permissions: [],
    prices: { script: { input: 1, output: 1 } },
  });
  await h.setState({ yolo: true, mood: "early" });
  await h.sendMessage({ content: "Go" });
  const { seq } = h.getDisplayState();
  await h.setState({ yolo: false, mood: "late" });
  await h.grantSessionTool({ toolName: "other" });
  await h.setPermissionForTool({ toolName: "note", policy: "deny" });
  await h.sendMessage({ content: "Go" });
  const usage = h.getTokenUsage();
  const { cost } = h.getDisplayState();
  assert.ok(cost !== null && cost > 0);
  await h.rewind({ toSeq: seq });
  const inForce = () => [
    h.getPermissionRules(),
    h.getSessionGrants(),
    h.getState()["yolo"],
    h.getTokenUsage(),
    h.getDisplayState().cost,
  ];
  const deny = [{ toolName: "note", policy: "deny" }];
  assert.deepEqual(inForce(), [deny, [{ toolName: "other", policy: "allow" }], false, usage, cost]);
  assert.equal(h.getState()["mood"], "early");
  await h.sendMessage({ content: "Go" });
  await h.cloneThread({ atSeq: seq });
  assert.deepEqual(inForce().slice(0, 3), [deny, [], false]);
  assert.equal(h.getTokenUsage().inputTokens, 0);
  await h.sendMessage({ content: "Go" });
  assert.equal(runs.length, 1);
});

test("usage counts cache reads and writes and reasoning; cost comes from a table that the user can replace", async () => {
  const usage = {
    inputTokens: { total: 1_000_000, noCache: 500_000, cacheRead: 400_000, cacheWrite: 100_000 },
    outputTokens: { total: 200_000, text: 150_000, reasoning: 50_000 },
  };
  const answer = parts(
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "hi" },
    { type: "text-end", id: "t" },
    { ...finish("stop"), usage } as never,
  );
  const prices = { script: { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 } };
  await using h = await harness({ model: script(answer, answer), prices });
  await h.sendMessage({ content: "Hello" });
  assert.deepEqual(h.getTokenUsage(), {
    inputTokens: 1_000_000,
    outputTokens: 200_000,
    cacheReadTokens: 400_000,
    cacheWriteTokens: 100_000,
    reasoningTokens: 50_000,
  });
  const cost = 0.5 * 2 + 0.4 * 0.2 + 0.1 * 2.5 + 0.2 * 10;
  assert.ok(Math.abs(h.getDisplayState().cost! - cost) < 1e-9);
  await h.sendMessage({ content: "Hello" });
  assert.ok(Math.abs(h.getDisplayState().cost! - 2 * cost) < 1e-9);
  await using unpriced = await harness({ model: script(say("hi")) });
  await unpriced.sendMessage({ content: "Hello" });
  assert.equal(unpriced.getDisplayState().cost, null);
});

test("a budget ends the turn, at most one model call late, and says which limit it was", async () => {
  const prices = { script: { input: 1_000, output: 0 } };
  const cases: [Budget, number, RegExp][] = [
    [{ steps: 3 }, 3, /3 of 3 steps for a turn/],
    [{ tokens: 200 }, 2, /220 of 200 tokens for a turn/],
    [{ cost: 0.25 }, 3, /0.3 of 0.25 dollars for a turn/],
    [{ thread: { steps: 2 } }, 2, /2 of 2 steps for the thread/],
    [{ steps: 9, thread: { tokens: 111 } }, 2, /220 of 111 tokens for the thread/],
  ];
  for (const [budget, steps, detail] of cases) {
    const { note } = noting();
    const model = scriptedBy(() => call("note", { what: "x" }));
    await using h = await harness({ model, tools: { note }, budget, prices });
    const { reason } = await h.sendMessage({ content: "For ever" });
    assert.equal(reason, "budget");
    assert.equal(model.requests.length, steps, JSON.stringify(budget));
    const end = h.seen.find((event) => event.type === "agent_end");
    assert.match(end?.detail ?? "", detail);
    // The budget of a turn starts anew with the next turn; that of a thread does not.
    await h.sendMessage({ content: "And on" });
    assert.equal(model.requests.length, "thread" in budget ? steps : 2 * steps);
  }
});

test("an agent's budget applies in addition to the harness's; wallMs counts work, not waiting", async () => {
  let now = 0;
  const clock = {
    now: () => now,
    after: (ms: number, callback: () => void) => {
      const timer = setTimeout(callback, Math.min(ms, 5));
      return () => clearTimeout(timer);
    },
  };
  const { note } = noting();
  const model = scriptedBy(({ prompt }) => {
    now += 400;
    const asked = JSON.stringify(prompt).includes("ask_user");
    return asked ? call("note", { what: "x" }) : call("ask_user", { question: "Well?" });
  });
  const agent = new Agent({ name: "a", model, tools: { note }, budget: { wallMs: 1_000 } });
  await using h = await harness({ model, agent, clock, budget: { steps: 100 } });
  const turn = h.sendMessage({ content: "Go" });
  await next(h, "tool_suspended");
  now += 1_000_000;
  await h.respondToToolSuspension({ resumeData: "yes" });
  assert.equal((await turn).reason, "budget");
  assert.equal(model.requests.length, 3);
});

test("a limit in dollars needs a price: without one the turn ends before anything is spent", async () => {
  const model = script(say("hi"));
  await using h = await harness({ model, budget: { cost: 1 } });
  const { reason, error } = await h.sendMessage({ content: "Hello" });
  assert.deepEqual([reason, error?.code, model.requests.length], ["error", "INVALID_CONFIG", 0]);
  assert.match(error!.message, /price of "scripted\/script" is unknown\. Add { "script": .* } to "prices"/);
});

test("a thread gets its title from its first message, unless it has one", async () => {
  await using h = await harness({ model: scriptedBy(() => say("hi")) });
  await h.sendMessage({ content: `  Fix the\tbug in the ${"very ".repeat(20)}long parser\nand more` });
  const [first] = await h.listThreads();
  assert.equal(first?.title, "Fix the bug in the very very very very very very very very…");
  assert.equal(h.getDisplayState().title, first?.title);
  await h.sendMessage({ content: "Another" });
  assert.equal(h.getDisplayState().title, first?.title);
  await h.createThread({ title: "Mine" });
  await h.sendMessage({ content: "Hello" });
  assert.equal(h.getDisplayState().title, "Mine");
});

test("settings of a clone are newer than those that it inherited, wherever it begins", async () => {
  const { note, runs } = noting();
  const model = scriptedBy(({ prompt }) =>
    prompt.at(-1)?.role === "tool" ? say("done") : call("note", { what: "x" }),
  );
  await using h = await harness({ model, tools: { note }, permissions: [] });
  await h.createThread();
  for (let n = 0; n < 5; n++) await h.setState({ n });
  await h.setPermissionForTool({ toolName: "note", policy: "ask" });
  await h.cloneThread({ atSeq: 1 });
  await h.grantSessionTool({ toolName: "note" });
  assert.equal((await h.sendMessage({ content: "Go" })).reason, "complete");
  assert.equal(runs.length, 1);
});

test("a rewind leaves the title as it is", async () => {
  await using h = await harness({ model: scriptedBy(() => say("hi")) });
  await h.createThread();
  await h.sendMessage({ content: "Hello" });
  await h.rewind({ toSeq: 1 });
  const [listed] = await h.listThreads();
  assert.deepEqual([h.getDisplayState().title, listed?.title], ["Hello", "Hello"]);
});

test("the display shows YOLO as getState does, whichever process opens the thread", async () => {
  const data = new MemoryData();
  const open = (yolo: boolean) =>
    harness({ model: script(say("hi")), storage: memoryStore(data), initialState: { yolo } });
  const shown = (h: Harness) => [h.getDisplayState().yolo, h.getState().yolo];
  const first = await open(true);
  assert.deepEqual(shown(first), [true, true]);
  const { id: threadId } = await first.createThread();
  assert.deepEqual(shown(first), [true, true]);
  const folded = async () =>
    (await memoryStore(data).read(threadId)).reduce(
      (state, event) => reduceDisplay(state, event as HarnessEvent),
      newDisplayState(threadId),
    );
  assert.deepEqual(await folded(), first.getDisplayState());
  await first.close();

  const second = await open(false);
  await second.switchThread({ threadId });
  assert.deepEqual(shown(second), [false, false]);
  await second.setState({ yolo: true });
  assert.deepEqual(shown(second), [true, true]);
  await second.setState({ other: 1 });
  const toSeq = second.getDisplayState().seq;
  await second.sendMessage({ content: "Hi" });
  await second.rewind({ toSeq });
  assert.deepEqual(shown(second), [true, true]);
  await second.rewind({ toSeq: 1 });
  assert.deepEqual(shown(second), [true, true]);
  await second.cloneThread();
  assert.deepEqual(shown(second), [true, true]);
  await second.setState({ yolo: false });
  assert.deepEqual(shown(second), [false, false]);
  await second.close();

  await using third = await open(true);
  await third.switchThread({ threadId });
  assert.deepEqual(shown(third), [true, true]);
  assert.deepEqual(await folded(), third.getDisplayState());
});

test("a subagent's thread shows the YOLO of its tree", async () => {
  const parent = script(call("task", { agent: "worker", prompt: "Work." }), say("done"));
  const worker = new Agent({ name: "worker", model: script(say("worked")) });
  await using h = await harness({ model: parent, subagents: [worker] });
  await h.setState({ yolo: true });
  await h.sendMessage({ content: "Go" });
  const [child] = await h.listThreads({ parentId: h.getCurrentThreadId()! });
  await h.switchThread({ threadId: child!.id });
  assert.equal(h.getDisplayState().yolo, true);
});
