import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";
import { Agent, CinchError, defineTool, Harness, memoryStore, type Rule, type ToolDefinition } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { call, say, script, scriptedBy, type Step } from "@cinch/testkit";
import * as z from "zod";
import { asking, harness, next, onlyHere } from "../support.ts";
import { waitingClock } from "../../../testkit/test/waiting-clock.ts";

/** A tool that has to ask, with the arguments that it ran with; `more` overrides its definition. */
function tool(runs: string[], more: Partial<ToolDefinition<{ t: string }>> = {}) {
  return defineTool({
    description: "Does t",
    category: "execute",
    input: z.object({ t: z.string() }),
    execute: ({ t }) => {
      runs.push(t);
      return `did ${t}`;
    },
    ...more,
  });
}

const calls = (...ts: string[]): Step =>
  call(...ts.map((t, at) => ["x", { t }, `c${at}`] as [string, unknown, string]));
const code = (expected: string) => (error: unknown) => error instanceof CinchError && error.code === expected;

test("of two processes at a thread only the one with the lease asks the model", async () => {
  const data = new MemoryData();
  const [one, two] = [scriptedBy(() => say("one")), scriptedBy(() => say("two"))];
  const seat = (model: typeof one) =>
    new Harness({ id: "x", storage: memoryStore(data), agent: new Agent({ name: "a", model }) });
  const [a, b] = [seat(one), seat(two)];
  await a.sendMessage({ content: "first" });
  await b.switchThread({ threadId: a.getCurrentThreadId()! });
  for (let n = 0; n < 20; n++) {
    await a.sendMessage({ content: `message ${n}` });
    await sleep(10);
  }
  while (b.getDisplayState().seq < a.getDisplayState().seq) await sleep(10);
  assert.equal(one.requests.length + two.requests.length, 21);
  assert.equal(b.getDisplayState().currentMessage, null);
  await Promise.all([a.close(), b.close()]);
});

test("a tool's own policy is checked: an invalid value or an error denies", async () => {
  for (const said of ["DENY", true, {}, null]) {
    const runs: string[] = [];
    const x = tool(runs, { policy: () => said as never });
    await using h = await harness({ model: script(calls("a"), say("ok")), tools: { x }, initialState: { yolo: true } });
    assert.equal((await h.sendMessage({ content: "Go" })).reason, "complete");
    assert.deepEqual(runs, [], JSON.stringify(said));
  }
});

test("the model gets the reason with which a tool's own policy denies, unless a rule denies the call as well", async () => {
  const policy = () => {
    throw new CinchError("PERMISSION_DENIED", "x is frozen.");
  };
  const resultWith = async (permissions: Rule[]) => {
    const runs: string[] = [];
    const tools = { x: tool(runs, { policy }) };
    await using h = await harness({ model: script(calls("a"), say("ok")), tools, permissions });
    const ended = next(h, "tool_end");
    await h.sendMessage({ content: "Go" });
    assert.deepEqual(runs, []);
    return (await ended).result.content;
  };
  assert.equal(await resultWith([]), "Denied: x is frozen.");
  assert.match(
    String(await resultWith([{ toolName: "x", policy: "deny" }])),
    /^Denied: a rule forbids this call of "x"/,
  );
});

test("of two answers to the oldest call that are given at once, only one finds a call", async () => {
  const runs: string[] = [];
  await using h = await harness({ model: script(calls("harmless", "rm -rf"), say("ok")), tools: { x: tool(runs) } });
  await h.post({ content: "Go", delivery: "send" });
  const { threadId } = await next(h, "tool_approval_required");
  const other = await h.createSession({ threadId });
  const answers = await Promise.allSettled(
    [h, other].map((seat) => seat.respondToToolApproval({ decision: "approve" })),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    ["fulfilled", "rejected"],
  );
  assert.ok(code("ALREADY_ANSWERED")((answers[1] as PromiseRejectedResult).reason));
  assert.equal((await h.settled()).status, "waiting");
  assert.deepEqual(runs, ["harmless"]);
  assert.deepEqual(Object.keys(h.getDisplayState().pendingApprovals), ["c1"]);
});

test("an answer to one question never becomes the answer to another", async () => {
  const twice = defineTool({
    description: "Asks twice",
    category: "read",
    input: z.object({}),
    execute: (_, { suspend, resumed }) => {
      if (!resumed) return suspend("Which branch?");
      return resumed.payload === "Which branch?" ? suspend("Really delete it?") : `deleted: ${String(resumed.data)}`;
    },
  });
  await using h = await harness({ model: script(call(["twice", {}, "t"]), say("ok")), tools: { twice } });
  const turn = h.sendMessage({ content: "Go" });
  const { seq, threadId } = await next(h, "tool_suspended");
  const other = await h.createSession({ threadId });
  const again = next(other, "tool_suspended");
  await h.respondToToolSuspension({ toolCallId: "t", resumeData: "main" });
  await again;
  await assert.rejects(other.respondToToolSuspension({ toolCallId: "t", resumeData: "yes", seq }), code("NOT_PENDING"));
  await other.respondToToolSuspension({ toolCallId: "t", resumeData: "no" });
  assert.equal((await turn).reason, "complete");
});

test("a resumed tool gets the answer as its schema parsed it, and never one that does not fit", async () => {
  const data = new MemoryData();
  const got: unknown[] = [];
  const ask = (resume?: z.ZodType) =>
    defineTool({
      description: "Asks",
      category: "read",
      input: z.object({}),
      resume,
      execute: (_, { suspend, resumed }) => {
        if (!resumed) return suspend("How many?");
        got.push(resumed.data);
        return "thanks";
      },
    });
  const model = script(call("ask"), call("ask"), say("ok"));
  await using strict = await harness({ model, tools: { ask: ask(z.coerce.number()) }, storage: memoryStore(data) });
  const turn = strict.sendMessage({ content: "Go" });
  const { threadId } = await next(strict, "tool_suspended");
  const again = next(strict, "tool_suspended");
  await strict.respondToToolSuspension({ resumeData: "7" });
  await again;
  // A process without the schema accepts an answer that does not fit.
  await using lax = await harness({ model, tools: {}, storage: memoryStore(data) });
  await lax.respondToToolSuspension({ threadId, resumeData: "many" });
  await turn;
  assert.deepEqual(got, [7]);
});

test("rules and aborts do not wait for a pattern that hangs", async () => {
  const x = tool([], { matches: () => new Promise<never>(() => undefined) });
  const clock = waitingClock();
  await using h = await harness({ model: script(calls("a"), say("ok")), tools: { x }, clock });
  await h.post({ content: "Go", delivery: "send" });
  await next(h, "tool_approval_required");
  const since = clock.now();
  await h.setPermissionForTool({ toolName: "x", match: "foo", policy: "allow" });
  await h.abort();
  assert.ok(clock.now() - since < 3_000);
  assert.equal(h.getDisplayState().status, "idle");
});

test("a call that is answered while another runs starts at once, also when judging is slow", async () => {
  const began: string[] = [];
  const release = Promise.withResolvers<void>();
  const x = tool([], {
    matches: async () => {
      await sleep(40);
      return "none" as const;
    },
    execute: async ({ t }) => {
      began.push(t);
      await release.promise;
      return t;
    },
  });
  const permissions = [{ toolName: "x", match: "never", policy: "deny" as const }];
  await using h = await harness({ model: script(calls("a", "b"), say("ok")), tools: { x }, permissions });
  const turn = h.sendMessage({ content: "Go" });
  await next(h, "tool_approval_required");
  await h.respondToToolApproval({ toolCallId: "c0", decision: "approve" });
  await sleep(10);
  await h.respondToToolApproval({ toolCallId: "c1", decision: "approve" });
  while (began.length < 2) await sleep(5);
  release.resolve();
  assert.equal((await turn).reason, "complete");
});

test("a call that YOLO allowed is judged again if YOLO is turned off before it runs", async () => {
  const runs: string[] = [];
  const turnedOff = Promise.withResolvers<void>();
  const waits: Promise<void>[] = [];
  const x = tool(runs, {
    matches: async () => {
      await waits.shift();
      return "none" as const;
    },
  });
  const permissions = [{ toolName: "x", match: "never", policy: "deny" as const }];
  await using h = await harness({ model: script(calls("a"), say("ok")), tools: { x }, permissions });
  await h.post({ content: "Go", delivery: "send" });
  await next(h, "tool_approval_required");
  // The command that turns YOLO on judges the call, and then the driver does.
  waits.push(Promise.resolve(), turnedOff.promise);
  const again = next(h, "tool_approval_required");
  await h.setState({ yolo: true });
  await h.setState({ yolo: false });
  turnedOff.resolve();
  await again;
  assert.deepEqual(runs, []);
});

test("a call runs with the arguments that were shown, even if the code that judges it changes its copy", async () => {
  const runs: string[] = [];
  const x = tool(runs, {
    matches: (_, args) => {
      args.t = "evil";
      return "all";
    },
  });
  const permissions = [{ toolName: "x", match: "?", policy: "allow" as const }];
  const model = script(calls("harmless"), say("ok"));
  await using h = await harness({ model, tools: { x }, permissions });
  await h.sendMessage({ content: "Go" });
  assert.deepEqual(runs, ["harmless"]);
  assert.doesNotMatch(JSON.stringify(model.requests), /evil/);
});

const RULED = onlyHere("the call may have run before the rule arrives");
test("a call whose category function fails asks, and can be answered", RULED, async () => {
  const runs: string[] = [];
  const toolCategory = () => {
    throw new Error("no idea");
  };
  await using h = await harness({ model: script(calls("a"), say("ok")), tools: { x: tool(runs) }, toolCategory });
  await h.post({ content: "Go", delivery: "send" });
  await h.setPermissionForCategory({ category: "other", policy: "ask" });
  const { category } = h.getDisplayState().pendingApproval ?? (await next(h, "tool_approval_required"));
  assert.deepEqual([category, runs], ["other", []]);
});

test("a thread budget in dollars holds, also after steps that have no price", async () => {
  const priced = Object.assign(
    scriptedBy(() => calls("a")),
    { modelId: "priced" },
  );
  const x = tool([]);
  const free = new Agent({ name: "free", model: script(say("hi")) });
  const paid = new Agent({ name: "paid", model: priced, tools: { x }, budget: { thread: { cost: 0.25 } } });
  const h = new Harness({
    id: "x",
    modes: [
      { id: "free", agent: free },
      { id: "paid", agent: paid },
    ],
    prices: { priced: { input: 1_000, output: 0 } },
    initialState: { yolo: true },
  });
  await h.sendMessage({ content: "Hello" });
  await h.switchMode({ modeId: "paid" });
  const { reason, detail } = await h.sendMessage({ content: "Go" });
  assert.equal(reason, "budget");
  assert.match(detail ?? "", /0.3 of 0.25 dollars for the thread/);
  assert.equal(h.getDisplayState().cost, null);
  await h.close();
});

test("the display shows the mode that was switched to while the turn waited", async () => {
  const agent = new Agent({ name: "a", model: script(calls("a"), say("ok")), tools: { x: tool([]) } });
  const h = new Harness({
    id: "x",
    modes: [
      { id: "plan", agent },
      { id: "build", agent },
    ],
  });
  await h.post({ content: "Go", delivery: "send" });
  await next(h, "tool_approval_required");
  await h.switchMode({ modeId: "build" });
  const ended = next(h, "agent_end");
  await h.respondToToolApproval({ decision: "decline" });
  await ended;
  assert.deepEqual([h.getCurrentModeId(), h.getDisplayState().modeId], ["build", "build"]);
  await h.close();
});

test("changing a returned object changes neither a thread's state nor what is enforced", async () => {
  const agent = new Agent({ name: "a", model: script(say("hi")) });
  const h = new Harness({
    id: "x",
    modes: [{ id: "a", agent, availableTools: [] }],
    initialState: { list: [] },
  });
  (h.getState()["list"] as string[]).push("leak");
  assert.deepEqual(h.getState()["list"], []);
  const [mode] = await h.listModes();
  assert.throws(() => (mode!.availableTools as string[]).push("x"), TypeError);
  await h.close();
});

test("a schema may transform the state, and checks over several fields apply", async () => {
  const stateSchema = z
    .object({
      n: z
        .string()
        .transform((text) => text.length)
        .optional(),
      a: z.number().default(0),
      b: z.number().default(0),
    })
    .refine(({ a, b }) => a + b <= 10);
  await using h = await harness({ model: script(say("hi")), stateSchema });
  await h.setState({ n: "abc" });
  await h.setState({ a: 1 });
  const other = await h.createSession({ threadId: h.getCurrentThreadId()! });
  const both = await Promise.allSettled([h.setState({ a: 9 }), other.setState({ b: 9 })]);
  assert.deepEqual(both.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
});

test("a process that lacks the mode of a turn leaves the turn to processes that have it", async () => {
  const data = new MemoryData();
  const model = script(call("ask", { question: "Well?" }), say("done"));
  const mine = (id: string) =>
    new Harness({
      id: "x",
      storage: memoryStore(data),
      modes: [{ id, agent: new Agent({ name: "a", model, tools: { ask: asking } }) }],
      permissions: [{ category: "other", policy: "allow" }],
    });
  const first = mine("old");
  await first.switchMode({ modeId: "old" });
  await first.post({ content: "Go", delivery: "send" });
  const { threadId } = await next(first, "tool_suspended");
  await first.close();
  const renamed = mine("new");
  await renamed.respondToToolSuspension({ threadId, resumeData: "yes" });
  await sleep(50);
  await renamed.close();
  const second = mine("old");
  const ended = next(second, "agent_end");
  await second.switchThread({ threadId });
  assert.equal((await ended).reason, "complete");
  await second.close();
});

test("digests differ for arguments that differ only in structure", async () => {
  const runs: unknown[] = [];
  const x = defineTool({ description: "x", input: { type: "object" }, execute: (args) => void runs.push(args) });
  await using h = await harness({
    model: script(
      call(["x", { t: { a: 1 } }, "one"], ["x", { t: [["a", 1]] }, "two"], ["x", { t: { a: 1 } }, "three"]),
      say("ok"),
    ),
    tools: { x },
    permissions: [],
  });
  await h.post({ content: "Go", delivery: "send" });
  await next(h, "tool_approval_required");
  const digests = Object.values(h.getDisplayState().pendingApprovals).map(({ digest }) => digest);
  assert.deepEqual([digests.length, new Set(digests).size], [3, 2]);
});
