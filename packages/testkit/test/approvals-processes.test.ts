import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ThreadApproval, ThreadSuspension } from "@cinch/core";
import { ofType, place } from "./place.ts";
import { RemoteHarness } from "./remote-harness.ts";

test("an approval that a killed process requested is answered in the next one, and no call runs twice", async () => {
  await using at = await place();
  await using first = new RemoteHarness(at.folder);
  await first.order("batch");
  await first.kill();
  await using second = new RemoteHarness(at.folder);
  const { threadId, toolCallId, toolName, args, digest } = await second.pending();
  assert.deepEqual([threadId, toolName, args], ["t", "guarded", { what: "it" }]);
  assert.deepEqual(at.ledger(), ["once beside"]);
  await second.do("respondToToolApproval", { threadId, toolCallId, digest, decision: "approve" });
  await second.do("until", "idle");
  assert.deepEqual(at.ledger(), ["once beside", "guarded it"]);
  assert.deepEqual(await second.do("pendingApprovals"), []);
  const events = await at.journal();
  assert.deepEqual(
    ofType(events, "agent_end").map(({ reason }) => reason),
    ["complete"],
  );
  assert.deepEqual(
    ofType(events, "tool_end").map(({ result }) => result.content),
    ["once did beside", "guarded did it"],
  );
});

test("an approval and a question survive every process that handled them", async () => {
  await using at = await place();
  await using first = new RemoteHarness(at.folder);
  await first.order("both");
  await first.close();
  await using second = new RemoteHarness(at.folder);
  const { status, pendingApprovals, pendingSuspensions } = await second.show();
  assert.deepEqual(
    [status, Object.values(pendingApprovals).length, Object.values(pendingSuspensions).length],
    ["waiting", 1, 1],
  );
  await second.do("respondToToolApproval", { decision: "approve", message: "Go on.", by: "Ada" });
  await second.hasRun("guarded it");
  await second.do("until", "waiting");
  await second.close();
  await using third = new RemoteHarness(at.folder);
  const [question] = Object.values((await third.show()).pendingSuspensions);
  assert.deepEqual(question?.suspendPayload, { question: "Which?", options: null, multiple: false });
  await third.do("respondToToolSuspension", { resumeData: "This one", by: "Ben" });
  await third.do("until", "idle");
  assert.deepEqual(at.ledger(), ["guarded it"]);
  const events = await at.journal();
  assert.deepEqual(
    ofType(events, "tool_end").map(({ result }) => result.content),
    ["[The user says: Go on.]\nguarded did it", "This one"],
  );
  assert.deepEqual(
    [...ofType(events, "tool_approval_resolved"), ...ofType(events, "tool_resumed")].map(({ by }) => by),
    ["Ada", "Ben"],
  );
  assert.equal(ofType(events, "agent_end").length, 1);
});

test("a process lists what waits for a person in the threads of another one, in its subagents too", async () => {
  await using at = await place();
  await using first = new RemoteHarness(at.folder);
  await first.order("both");
  await using second = new RemoteHarness(at.folder);
  const pending = await second.do<(ThreadApproval | ThreadSuspension)[]>("pending");
  assert.deepEqual(
    pending.map(({ kind, threadId, rootThreadId, toolName }) => ({ kind, threadId, rootThreadId, toolName })),
    [
      { kind: "approval", threadId: "t", rootThreadId: "t", toolName: "guarded" },
      { kind: "question", threadId: "t", rootThreadId: "t", toolName: "ask_user" },
    ],
  );
  await first.do("abort");
  await first.do("until", "idle");
  assert.deepEqual(await second.do("pending"), []);
  await first.order("tree");
  const [deep, ...more] = await second.do<(ThreadApproval | ThreadSuspension)[]>("pending");
  assert.deepEqual([deep?.kind, deep?.rootThreadId, deep?.path, more], ["approval", "t", ["explore", "search"], []]);
  assert.notEqual(deep?.threadId, "t");
});

test("when two processes answer at once, one is refused and its answer has no effect", async () => {
  await using at = await place();
  await using first = new RemoteHarness(at.folder);
  await using second = new RemoteHarness(at.folder);
  await second.show();
  const expected: string[] = [];
  for (let round = 0; round < 5; round++) {
    await first.order("one");
    const { toolCallId, digest } = await first.pending();
    const answer = { toolCallId, digest };
    const answers = await Promise.all([
      first.call("respondToToolApproval", { ...answer, decision: "edit", args: { what: `edited ${round}` } }),
      second.call("respondToToolApproval", { ...answer, decision: "approve" }),
    ]);
    const late = answers.flatMap(({ error }) => error ?? []);
    assert.ok(late.length === 1 && /^(ALREADY_ANSWERED|NOT_PENDING)$/.test(late[0]!), JSON.stringify(answers));
    expected.push(answers[0].error === undefined ? `guarded edited ${round}` : "guarded it");
    await first.do("until", "idle");
  }
  assert.deepEqual(at.ledger(), expected);
  assert.equal(ofType(await at.journal(), "tool_approval_resolved").length, 5);
});

test("an answer for other arguments than the pending ones is refused, and nothing runs", async () => {
  await using at = await place();
  await using first = new RemoteHarness(at.folder);
  await using second = new RemoteHarness(at.folder);
  await first.order("again");
  const seen = await second.pending();
  assert.deepEqual(seen.args, { what: "harmless" });
  // Before the second harness answers, the first one does, and the model makes another call with the same id.
  await first.do("respondToToolApproval", { decision: "decline", message: "Something else." });
  await first.do("until", "waiting");
  const now = await second.pending();
  assert.deepEqual([now.toolCallId, now.args], [seen.toolCallId, { what: "harmful" }]);
  const { toolCallId, digest } = seen;
  assert.deepEqual(await second.call("respondToToolApproval", { toolCallId, digest, decision: "approve" }), {
    error: "NOT_PENDING",
  });
  assert.deepEqual([at.ledger(), (await second.show()).status], [[], "waiting"]);
  await second.do("respondToToolApproval", { toolCallId, digest: now.digest, decision: "approve" });
  await second.do("until", "idle");
  assert.deepEqual(at.ledger(), ["guarded harmful"]);
});

test("the driver continues with an answer that another process gave", async () => {
  await using at = await place();
  await using first = new RemoteHarness(at.folder);
  await using second = new RemoteHarness(at.folder);
  await second.show();
  await first.do("post", { content: "slow", delivery: "send" });
  // Either process may have become the driver.
  const runs = async (driver: RemoteHarness, other: RemoteHarness) => {
    await driver.hasRun("slow it");
    return { driver, other };
  };
  const { driver, other } = await Promise.race([runs(first, second), runs(second, first)]);
  const { toolCallId, digest } = await other.pending();
  await other.do("respondToToolApproval", { toolCallId, digest, decision: "approve" });
  await driver.hasRun("guarded it");
  assert.deepEqual(other.ran, []);
  writeFileSync(join(at.folder, "go"), "");
  await driver.do("until", "idle");
  assert.deepEqual(at.ledger(), ["slow it", "guarded it"]);
  assert.equal(ofType(await at.journal(), "agent_start").length, 1);
});

test("a rule that denies a pending call of another process declines it", async () => {
  await using at = await place();
  await using first = new RemoteHarness(at.folder);
  await using second = new RemoteHarness(at.folder);
  await first.order("batch");
  await second.do("setPermissionForTool", { toolName: "guarded", policy: "deny" });
  await first.do("until", "idle");
  assert.deepEqual(await first.do("pendingApprovals"), []);
  assert.deepEqual(at.ledger(), ["once beside"]);
  const events = await at.journal();
  assert.deepEqual(
    ofType(events, "tool_approval_resolved").map(({ decision, by }) => [decision, by]),
    [["decline", "rules"]],
  );
  assert.match(String(ofType(events, "tool_end").at(-1)?.result.content), /^Denied: a rule forbids/);
  assert.equal(ofType(events, "agent_end").at(-1)?.reason, "complete");
});

test("a plan that another process approves switches the mode within the same turn", async () => {
  await using at = await place();
  await using first = new RemoteHarness(at.folder);
  await using second = new RemoteHarness(at.folder);
  await first.do("switchMode", { modeId: "plan" });
  await first.order("plan");
  await second.do("respondToToolSuspension", { resumeData: { action: "approved", feedback: "Nice." } });
  await first.do("until", "idle");
  await second.do("until", "idle");
  assert.deepEqual(at.ledger(), ["once building"]);
  assert.deepEqual(
    [await first.do("getCurrentModeId"), await second.do("getCurrentModeId"), (await second.show()).modeId],
    ["build", "build", "build"],
  );
  const events = await at.journal();
  const [{ turnId } = {}] = ofType(events, "agent_start");
  assert.deepEqual([...new Set(ofType(events, "agent_start").map((start) => start.turnId))], [turnId]);
  assert.deepEqual(
    ofType(events, "agent_start")
      .map(({ modeId }) => modeId)
      .filter((modeId, n, all) => modeId !== all[n - 1]),
    ["plan", "build"],
  );
});

test("a process that ends right after its answer does not interrupt the call that it approved", async () => {
  await using at = await place();
  await using first = new RemoteHarness(at.folder);
  for (const ending of ["close", "kill"] as const) {
    await first.order("last");
    await using second = new RemoteHarness(at.folder);
    const { threadId, toolCallId, digest } = await second.pending();
    await second.do("respondToToolApproval", { threadId, toolCallId, digest, decision: "approve" });
    await second[ending]();
    await first.do("until", "idle");
  }
  assert.deepEqual(at.ledger(), ["lasting it", "lasting it"]);
  assert.deepEqual(
    ofType(await at.journal(), "tool_end").map(({ result, unknown = false }) => [result.content, unknown]),
    [
      ["lasting did it", false],
      ["lasting did it", false],
    ],
  );
});
