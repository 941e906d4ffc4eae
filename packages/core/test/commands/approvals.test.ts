import assert from "node:assert/strict";
import { test } from "node:test";
import { CinchError, defineTool, memoryStore, textOf, type Decision, type HarnessEvent } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { call, say, script, type Step } from "@cinch/testkit";
import * as z from "zod";
import { gated, harness, missed, next, onlyHere } from "../support.ts";

/** A tool that has to ask, and the arguments that it ran with. */
function deploying() {
  const runs: unknown[] = [];
  const deploy = defineTool({
    description: "Deploys",
    category: "execute",
    input: z.object({ target: z.string() }),
    matches: (pattern, { target }) => (target === pattern ? "all" : "none"),
    suggest: ({ target }) => target,
    execute: ({ target }) => {
      runs.push(target);
      return `deployed to ${target}`;
    },
  });
  return { deploy, runs };
}

const asks = (...targets: string[]): Step =>
  call(...targets.map((target, at) => ["deploy", { target }, `c${at}`] as [string, unknown, string]));

const results = (events: readonly HarnessEvent[]) =>
  events.flatMap((event) => (event.type === "tool_end" ? [[event.result.content, event.isError]] : []));

const code = (expected: string) => (error: unknown) => error instanceof CinchError && error.code === expected;

test("a call that has to ask waits, and its turn does not end; once it is approved, it runs and the turn continues", async () => {
  const { deploy, runs } = deploying();
  await using h = await harness({ model: script(asks("staging"), say("up")), tools: { deploy } });
  const asked = next(h, "tool_approval_required");
  const turn = h.sendMessage({ content: "Ship it" });
  const event = await asked;
  assert.equal(event.toolName, "deploy");
  assert.deepEqual([event.args, event.category, event.suggestion], [{ target: "staging" }, "execute", "staging"]);
  const { status, isRunning, pendingApproval, pendingApprovals, activeTools } = h.getDisplayState();
  assert.deepEqual([status, isRunning], ["waiting", false]);
  assert.equal(pendingApproval?.digest, event.digest);
  assert.deepEqual(Object.keys(pendingApprovals), ["c0"]);
  assert.equal(activeTools["c0"]?.status, "waiting");
  assert.deepEqual(runs, []);
  await h.respondToToolApproval({ decision: "approve" });
  assert.deepEqual((await turn).reason, "complete");
  assert.deepEqual(runs, ["staging"]);
  assert.deepEqual([h.getDisplayState().pendingApproval, h.getDisplayState().pendingApprovals], [null, {}]);
});

test("an answer can say who gave it", onlyHere("the token says who answers"), async () => {
  const { deploy } = deploying();
  await using h = await harness({ model: script(asks("staging"), say("up")), tools: { deploy } });
  const turn = h.sendMessage({ content: "Ship it" });
  await next(h, "tool_approval_required");
  await h.respondToToolApproval({ decision: "approve", by: "ada" });
  await turn;
  assert.equal(h.seen.find((one) => one.type === "tool_approval_resolved")?.by, "ada");
});

test("several approvals can be pending at once, and are answered in any order", async () => {
  const { deploy, runs } = deploying();
  await using h = await harness({ model: script(asks("a", "b", "c"), say("up")), tools: { deploy } });
  const turn = h.sendMessage({ content: "Ship it" });
  await next(h, "tool_approval_required");
  await h.respondToToolApproval({ toolCallId: "c2", decision: "approve" });
  await h.respondToToolApproval({ toolCallId: "c1", decision: "decline", message: "b is frozen" });
  assert.equal(h.getDisplayState().pendingApproval?.toolCallId, "c0");
  await h.respondToToolApproval({ decision: "approve" });
  assert.equal((await turn).reason, "complete");
  assert.deepEqual(runs.toSorted(), ["a", "c"]);
  assert.deepEqual(results(h.seen).toSorted(), [
    ["b is frozen", true],
    ["deployed to a", false],
    ["deployed to c", false],
  ]);
});

test("calls beside one that asks do not wait for the answer", async () => {
  const { deploy } = deploying();
  const { gate, started, open } = gated("pure");
  const steps = script(call(["deploy", { target: "a" }, "ask"], ["gate", {}, "go"]), say("done"));
  await using h = await harness({ model: steps, tools: { deploy, gate } });
  const turn = h.sendMessage({ content: "Both" });
  await started;
  assert.equal(h.getDisplayState().status, "running");
  open();
  await next(h, "tool_end");
  assert.equal(h.getDisplayState().status, "waiting");
  await h.respondToToolApproval({ decision: "approve" });
  assert.equal((await turn).reason, "complete");
});

test("the first answer stands, and the second rejects with ALREADY_ANSWERED", async () => {
  const { deploy, runs } = deploying();
  await using h = await harness({ model: script(asks("a"), say("up")), tools: { deploy } });
  await assert.rejects(h.respondToToolApproval({ decision: "approve" }), code("NOT_PENDING"));
  const turn = h.sendMessage({ content: "Ship it" });
  await next(h, "tool_approval_required");
  const first = h.respondToToolApproval({ toolCallId: "c0", decision: "approve" });
  await assert.rejects(h.respondToToolApproval({ toolCallId: "c0", decision: "decline" }), code("ALREADY_ANSWERED"));
  await first;
  await turn;
  await assert.rejects(h.respondToToolApproval({ toolCallId: "c0", decision: "approve" }), code("ALREADY_ANSWERED"));
  await assert.rejects(h.respondToToolApproval({ toolCallId: "none", decision: "approve" }), code("NOT_PENDING"));
  assert.deepEqual(runs, ["a"]);
});

test("an answer with the digest of another call is refused", async () => {
  const { deploy, runs } = deploying();
  await using h = await harness({ model: script(asks("a"), asks("b"), say("up")), tools: { deploy } });
  const turn = h.sendMessage({ content: "Ship it" });
  const { digest } = await next(h, "tool_approval_required");
  await h.respondToToolApproval({ toolCallId: "c0", digest, decision: "approve" });
  // The model uses the same call id for another call.
  await next(h, "tool_approval_required");
  const stale = h.respondToToolApproval({ toolCallId: "c0", digest, decision: "approve" });
  await assert.rejects(stale, code("NOT_PENDING"));
  assert.deepEqual(runs, ["a"]);
  await h.respondToToolApproval({ toolCallId: "c0", decision: "approve" });
  await turn;
  assert.deepEqual(runs, ["a", "b"]);
});

test("edit runs the edited arguments, after the tool's schema has checked them, and the model and the journal get to know them", async () => {
  const { deploy, runs } = deploying();
  const model = script(asks("production"), say("up"));
  await using h = await harness({ model, tools: { deploy } });
  const turn = h.sendMessage({ content: "Ship it" });
  await next(h, "tool_approval_required");
  await assert.rejects(h.respondToToolApproval({ decision: "edit" }), code("INVALID_INPUT"));
  await assert.rejects(h.respondToToolApproval({ decision: "edit", args: { target: 7 } }), code("INVALID_INPUT"));
  await assert.rejects(h.respondToToolApproval({ decision: "maybe" as Decision }), code("INVALID_INPUT"));
  assert.equal(h.getDisplayState().status, "waiting");
  await h.respondToToolApproval({ decision: "edit", args: { target: "staging" } });
  await turn;
  assert.deepEqual(runs, ["staging"]);
  const started = h.seen.find((event) => event.type === "tool_start");
  assert.deepEqual(started?.args, { target: "staging" });
  assert.match(JSON.stringify(model.requests[1]!.prompt), /changed the arguments before it ran: .*staging/);
});

test("rules apply to the edited arguments too", async () => {
  const { deploy, runs } = deploying();
  await using h = await harness({ model: script(asks("a"), say("up")), tools: { deploy } });
  await h.setPermissionForTool({ toolName: "deploy", match: "production", policy: "deny" });
  const turn = h.sendMessage({ content: "Ship it" });
  await next(h, "tool_approval_required");
  await h.respondToToolApproval({ decision: "edit", args: { target: "production" } });
  assert.equal((await turn).reason, "complete");
  assert.deepEqual(runs, []);
  assert.match(String(results(h.seen)[0]?.[0]), /Denied/);
});

test("a message with the approval reaches the model", async () => {
  const { deploy } = deploying();
  const model = script(asks("a"), say("up"));
  await using h = await harness({ model, tools: { deploy } });
  const turn = h.sendMessage({ content: "Ship it" });
  await next(h, "tool_approval_required");
  await h.respondToToolApproval({ decision: "approve", message: "but watch the graphs" });
  await turn;
  assert.match(JSON.stringify(model.requests[1]!.prompt), /but watch the graphs.*deployed to a/);
});

test("a decline without a message ends the turn once the running calls have ended; waiting calls are settled", async () => {
  const { deploy, runs } = deploying();
  const { gate, started, open } = gated();
  const steps = script(
    call(["deploy", { target: "a" }, "no"], ["gate", {}, "runs"], ["deploy", { target: "b" }, "waits"]),
    say("not reached"),
  );
  await using h = await harness({ model: steps, tools: { deploy, gate } });
  const turn = h.sendMessage({ content: "All three" });
  await started;
  await h.respondToToolApproval({ toolCallId: "no", decision: "decline" });
  assert.equal(h.getDisplayState().status, "running");
  open();
  const { reason } = await turn;
  assert.equal(reason, "declined");
  assert.deepEqual(runs, []);
  assert.deepEqual(results(h.seen), [
    ["Declined by the user.", true],
    ["through", false],
    ["Not run: another call was declined.", true],
  ]);
  assert.deepEqual([h.getDisplayState().status, h.getDisplayState().pendingApprovals], ["idle", {}]);
});

test("always_allow_tool adds a grant for the narrow pattern in the same append, and calls that it covers no longer ask", async () => {
  const { deploy, runs } = deploying();
  const steps = script(asks("a", "a", "b"), asks("a"), say("up"));
  await using h = await harness({ model: steps, tools: { deploy } });
  const turn = h.sendMessage({ content: "Ship it" });
  await next(h, "tool_approval_required");
  await h.respondToToolApproval({ toolCallId: "c0", decision: "always_allow_tool" });
  // The grant covers the second call, but not the third.
  assert.deepEqual(Object.keys(h.getDisplayState().pendingApprovals), ["c2"]);
  assert.deepEqual(h.getSessionGrants(), [{ toolName: "deploy", match: "a", policy: "allow" }]);
  await h.respondToToolApproval({ decision: "approve" });
  assert.equal((await turn).reason, "complete");
  assert.deepEqual(runs.toSorted(), ["a", "a", "a", "b"]);
  const resolved = h.seen.flatMap((event) =>
    event.type === "tool_approval_resolved" ? [[event.toolCallId, event.by]] : [],
  );
  assert.deepEqual(resolved, [
    ["c0", undefined],
    ["c1", "rules"],
    ["c2", undefined],
  ]);
});

test("always_allow_category allows the whole category", async () => {
  const { deploy, runs } = deploying();
  await using h = await harness({ model: script(asks("a", "b"), asks("c"), say("up")), tools: { deploy } });
  const turn = h.sendMessage({ content: "Ship it" });
  await next(h, "tool_approval_required");
  await h.respondToToolApproval({ decision: "always_allow_category" });
  assert.equal((await turn).reason, "complete");
  assert.deepEqual(runs.toSorted(), ["a", "b", "c"]);
  assert.deepEqual(h.getSessionGrants(), [{ category: "execute", policy: "allow" }]);
});

test("YOLO answers pending approvals; a rule that denies does too, and that call never runs", async () => {
  for (const [change, expected] of [
    [{ yolo: true }, ["a"]],
    [{ deny: true }, []],
  ] as const) {
    const { deploy, runs } = deploying();
    await using h = await harness({ model: script(asks("a"), say("up")), tools: { deploy } });
    const turn = h.sendMessage({ content: "Ship it" });
    await next(h, "tool_approval_required");
    if ("yolo" in change) await h.setState(change);
    else await h.setPermissionForCategory({ category: "execute", policy: "deny" });
    assert.equal((await turn).reason, "complete");
    assert.deepEqual(runs, expected);
  }
});

/** A store in which a call waits for an approval and no process drives: a test can append events before a driver acts on them. */
async function leftWaiting() {
  const data = new MemoryData();
  const { deploy, runs } = deploying();
  const config = { model: script(asks("a"), say("up")), tools: { deploy } };
  const first = await harness({ ...config, storage: memoryStore(data) });
  await first.post({ content: "Ship it", delivery: "send" });
  await next(first, "tool_approval_required");
  const threadId = first.getCurrentThreadId()!;
  await first.close();
  const storage = memoryStore(data);
  await storage.open();
  const asked = (await storage.read(threadId)).findLast((event) => event.type === "tool_approval_required")!;
  const { seq: afterSeq, turnId = "", digest = "" } = asked;
  const about = { turnId, toolCallId: "c0", toolName: "deploy", v: 1, at: 1 };
  const approved = { type: "tool_approval_resolved" as const, decision: "approve" as const, digest, ...about };
  return { config: { ...config, storage }, threadId, afterSeq, approved, runs };
}

test("a rule that is set between the approval and the run applies", missed(), async () => {
  const { config, threadId, afterSeq, approved, runs } = await leftWaiting();
  const denied = { type: "permission_changed" as const, rule: { toolName: "deploy", policy: "deny" as const } };
  await config.storage.append(threadId, [approved, { ...denied, v: 1, at: 1 }], { afterSeq });
  await using h = await harness(config);
  const ended = next(h, "agent_end");
  await h.switchThread({ threadId });
  assert.equal((await ended).reason, "complete");
  assert.deepEqual(runs, []);
});

test("an approval in the journal for other arguments approves nothing", async () => {
  const { config, threadId, afterSeq, approved, runs } = await leftWaiting();
  await config.storage.append(threadId, [{ ...approved, digest: "of something else" }], { afterSeq });
  await using h = await harness(config);
  await h.switchThread({ threadId });
  const asked = h.getDisplayState().pendingApproval ?? (await next(h, "tool_approval_required"));
  assert.deepEqual([asked.args, runs], [{ target: "a" }, []]);
});

test("a pending approval outlives its process: another process lists it among all threads and answers it, and nothing runs twice", async () => {
  const data = new MemoryData();
  const { deploy, runs } = deploying();
  const noted: string[] = [];
  const note = defineTool({
    description: "Notes",
    category: "read",
    effect: "once",
    input: z.object({}),
    execute: () => noted.push("x"),
  });
  const model = script(call(["note", {}, "n"], ["deploy", { target: "a" }, "d"]), say("up"));
  const first = await harness({ model, tools: { deploy, note }, storage: memoryStore(data) });
  await first.post({ content: "Ship it", delivery: "send" });
  await next(first, "tool_end");
  await first.createThread({ title: "Another" });
  await first.close();
  await using h = await harness({ model, tools: { deploy, note }, storage: memoryStore(data) });
  const [pending, ...more] = await h.pendingApprovals();
  assert.equal(more.length, 0);
  assert.deepEqual(
    [pending?.toolCallId, pending?.toolName, pending?.args, pending?.title],
    ["d", "deploy", { target: "a" }, "Ship it"],
  );
  await h.respondToToolApproval({ toolCallId: "d", threadId: pending!.threadId, decision: "approve" });
  const session = await h.createSession({ threadId: pending!.threadId });
  if (session.getDisplayState().status !== "idle") await next(session, "agent_end");
  assert.deepEqual([runs, noted, await h.pendingApprovals()], [["a"], ["x"], []]);
  assert.equal(textOf((await session.listMessages()).at(-1)!.content), "up");
});

test("onAsk: decline tells the model why, and the turn continues", async () => {
  const { deploy, runs } = deploying();
  await using h = await harness({ model: script(asks("a"), say("then not")), tools: { deploy }, onAsk: "decline" });
  assert.equal((await h.sendMessage({ content: "Ship it" })).reason, "complete");
  assert.deepEqual(runs, []);
  assert.match(String(results(h.seen)[0]?.[0]), /needs a person's approval/);
});

test("interruptOn asks for its tool if its condition holds, and accepts the decisions that it lists", async () => {
  const { deploy, runs } = deploying();
  const production = ({ target }: { target: string }) => target === "production";
  await using h = await harness({
    model: script(asks("staging", "production"), say("up")),
    tools: { deploy },
    permissions: [{ toolName: "deploy", policy: "allow" }],
    interruptOn: { deploy: { when: production, decisions: ["approve", "decline"] } },
  });
  const turn = h.sendMessage({ content: "Ship it" });
  const { toolCallId, decisions } = await next(h, "tool_approval_required");
  assert.deepEqual([toolCallId, decisions], ["c1", ["approve", "decline"]]);
  await assert.rejects(h.respondToToolApproval({ decision: "always_allow_tool" }), code("INVALID_INPUT"));
  await h.respondToToolApproval({ decision: "approve" });
  await turn;
  assert.deepEqual(runs.toSorted(), ["production", "staging"]);
});

test("after always_allow_tool, interruptOn does not ask for calls that the grant covers", async () => {
  const runs: string[] = [];
  const plain = defineTool({ description: "Plain", input: z.object({}), execute: () => void runs.push("x") });
  const steps = script(call("plain"), call("plain"), say("done"));
  await using h = await harness({ model: steps, tools: { plain }, interruptOn: { plain: true } });
  const turn = h.sendMessage({ content: "Twice" });
  await next(h, "tool_approval_required");
  await h.respondToToolApproval({ decision: "always_allow_tool" });
  assert.equal((await turn).reason, "complete");
  assert.deepEqual(runs, ["x", "x"]);
});

test("only answers that would have an effect are offered", async () => {
  const plain = defineTool({ description: "Plain", input: z.object({}), execute: () => "x" });
  const picky = defineTool({
    description: "Has no pattern for this",
    input: z.object({}),
    matches: () => "some",
    suggest: () => undefined,
    execute: () => "x",
  });
  const cases: [Parameters<typeof harness>[0]["permissions"], string, string[]][] = [
    [[], "plain", ["approve", "decline", "edit", "always_allow_tool", "always_allow_category"]],
    [[{ toolName: "plain", policy: "ask" }], "plain", ["approve", "decline", "edit", "always_allow_tool"]],
    [[{ toolName: "plain", match: "?", policy: "ask" }], "plain", ["approve", "decline", "edit"]],
    [[], "picky", ["approve", "decline", "edit", "always_allow_category"]],
  ];
  for (const [rules, name, expected] of cases) {
    await using h = await harness({
      model: script(call(name), say("done")),
      tools: { plain, picky },
      permissions: rules ?? [],
    });
    const asked = next(h, "tool_approval_required");
    await h.post({ content: "Go", delivery: "send" });
    assert.deepEqual((await asked).decisions, expected);
  }
});

test("a display that is opened later shows the arguments that ran, and which call was declined", async () => {
  const { deploy } = deploying();
  const data = new MemoryData();
  const first = await harness({
    model: script(asks("staging", "production", "moon"), say("up")),
    tools: { deploy },
    storage: memoryStore(data),
  });
  const turn = first.sendMessage({ content: "Ship it" });
  await next(first, "tool_approval_required");
  await first.respondToToolApproval({ toolCallId: "c0", decision: "approve" });
  await first.respondToToolApproval({ toolCallId: "c1", decision: "edit", args: { target: "test" } });
  await first.respondToToolApproval({ toolCallId: "c2", decision: "decline", message: "Not there." });
  await turn;
  await first.close();

  await using second = await harness({ model: script(), tools: { deploy }, storage: memoryStore(data) });
  await second.selectOrCreateThread();
  const { outcomes } = second.getDisplayState().messages[1]!;
  assert.equal("args" in outcomes["c0"]!, false);
  assert.deepEqual(outcomes["c1"]?.args, { target: "test" });
  assert.deepEqual(outcomes["c2"]?.result, { content: "Not there.", details: { code: "DECLINED" } });
});
