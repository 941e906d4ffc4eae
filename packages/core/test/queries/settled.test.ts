import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as tick } from "node:timers/promises";
import { defineTool, newDisplayState, reduceDisplay, type HarnessEvent } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, hang, inTurn, say, script, scriptedBy } from "@cinch/testkit";
import * as z from "zod";
import { asking, gated, harness, next, noting, onlyHere } from "../support.ts";

test("an idle thread is settled", async () => {
  await using h = await harness({ model: script() });
  assert.deepEqual(await h.settled(), { status: "idle", pending: [] });
});

test("settled waits for the turns of all accepted inputs", async () => {
  await using h = await harness({ model: scriptedBy(() => say("yes", { delayMs: 2 })) });
  for (const content of ["one", "two", "three"]) await h.post({ content, delivery: "follow_up" });
  assert.deepEqual(await h.settled(), { status: "idle", pending: [] });
  assert.equal(h.seen.filter(({ type }) => type === "agent_end").length, 3);
});

test("settled returns the calls that wait for a person, the oldest question first", async () => {
  const { note } = noting();
  const model = script(call(["note", { what: "it" }, "a"], ["ask", { question: "Which?" }, "b"]), say("done"));
  await using h = await harness({ model, tools: { note, ask: asking }, permissions: [] });
  await h.setPermissionForTool({ toolName: "ask", policy: "allow" });
  await h.post({ content: "go", delivery: "send" });
  const { status, pending } = await h.settled();
  assert.equal(status, "waiting");
  const { pendingApprovals, pendingSuspensions } = h.getDisplayState();
  assert.deepEqual(pending, [...Object.values(pendingApprovals), ...Object.values(pendingSuspensions)]);
  assert.equal(pending.length, 2);
  await h.respondToToolApproval({ decision: "approve" });
  assert.deepEqual(
    (await h.settled()).pending.map(({ toolCallId }) => toolCallId),
    ["b"],
  );
  await h.respondToToolSuspension({ resumeData: "this" });
  assert.deepEqual(await h.settled(), { status: "idle", pending: [] });
});

test("a thread whose inputs are held back after an abort is settled", async () => {
  await using h = await harness({ model: script(inTurn(hang("well"), say("yes"))) });
  const turn = h.sendMessage({ content: "go" });
  await next(h, "message_update");
  await h.followUp({ content: "later" });
  await h.abort();
  await turn;
  assert.deepEqual(await h.settled(), { status: "idle", pending: [] });
  assert.deepEqual([h.getDisplayState().status, h.getDisplayState().inbox.length], ["idle", 1]);
  await h.resume();
  await h.settled();
  assert.equal(h.getDisplayState().inbox.length, 0);
});

test("a thread with a parked turn is settled as parked", async () => {
  const data = new MemoryData();
  const dying = new MemoryStore(data);
  const { gate, started } = gated("pure");
  const dead = await harness({ model: script(call("gate")), storage: dying, tools: { gate } });
  await dead.post({ content: "go", delivery: "send" });
  await started;
  dying.die();
  const model = script(call("gate"));
  await using h = await harness({ model, storage: new MemoryStore(data), tools: { gate }, onRecover: "pause" });
  await h.selectOrCreateThread();
  assert.deepEqual(await h.settled(), { status: "parked", pending: [] });
  await h.abort();
  assert.deepEqual(await h.settled(), { status: "idle", pending: [] });
});

test("settled rejects when the harness is closed first", async () => {
  const { gate, started, open } = gated();
  await using h = await harness({ model: script(call("gate")), tools: { gate } });
  await h.post({ content: "go", delivery: "send" });
  await started;
  const rest = h.settled();
  const closed = h.close();
  open();
  await assert.rejects(rest, { code: "CLOSED" });
  await closed;
});

test("the thread stays open for settled when its session switches to another thread", async () => {
  const { gate, started, open } = gated();
  await using h = await harness({ model: script(call("gate"), say("through")), tools: { gate } });
  await h.post({ content: "go", delivery: "send" });
  await started;
  const rest = h.settled();
  await h.createThread();
  open();
  assert.deepEqual(await rest, { status: "idle", pending: [] });
});

test("settled rejects when the thread is deleted, also while it waits", async () => {
  const { gate, started } = gated();
  await using h = await harness({ model: script(call("gate")), tools: { gate } });
  const { id: threadId } = await h.createThread();
  await h.post({ content: "go", delivery: "send" });
  await started;
  const rest = h.settled();
  const rejected = assert.rejects(rest, { code: "THREAD_NOT_FOUND" });
  await h.deleteThread({ threadId });
  await rejected;
});

/** Counts the followed threads. */
class FollowedStore extends MemoryStore {
  followed = 0;
  override follow(...args: Parameters<MemoryStore["follow"]>): () => void {
    const unfollow = super.follow(...args);
    this.followed++;
    return () => {
      this.followed--;
      unfollow();
    };
  }
}

test(
  "after a session has switched threads while settled waits, the old thread is closed once it has settled",
  { ...onlyHere("a server keeps its sessions open for a while") },
  async () => {
    const data = new MemoryData();
    const { gate, started, open } = gated();
    const model = script(call("gate"), say("through"));
    await using driving = await harness({ model, tools: { gate }, storage: new MemoryStore(data) });
    await driving.post({ content: "go", delivery: "send" });
    await started;
    const storage = new FollowedStore(data);
    await using h = await harness({ model, tools: { gate }, storage });
    const session = await h.createSession({ threadId: driving.getCurrentThreadId()! });
    const rest = session.settled();
    // Commands run in order, so `settled` waits by now.
    await session.listInbox();
    await session.close();
    open();
    await rest;
    while (storage.followed > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  },
);

const BOTH = { ...onlyHere("the second message may come after the first turn") };
test("the status is running from an accepted input until its turn ends or waits", BOTH, async () => {
  const { note } = noting();
  const model = script(say("one"), call("note", { what: "it" }), say("two"));
  await using h = await harness({ model, tools: { note }, permissions: [] });
  const statuses: string[] = [];
  h.subscribe((event: HarnessEvent) => "v" in event && statuses.push(`${event.type} ${h.getDisplayState().status}`));
  await Promise.all([h.sendMessage({ content: "first" }), h.post({ content: "second", delivery: "follow_up" })]);
  await h.settled();
  const [before, after] = [
    statuses.indexOf("input_accepted running"),
    statuses.indexOf("tool_approval_required waiting"),
  ];
  assert.ok(before >= 0 && after > before, statuses.join("\n"));
  for (const seen of statuses.slice(before, after)) assert.match(seen, / running$/);
});

test("an input that is removed before a turn takes it leaves the thread idle", () => {
  const where = { v: 1, at: 1, threadId: "t" };
  const accepted = { type: "input_accepted", inputId: "i", delivery: "send", content: "go", seq: 1, ...where } as const;
  const queued = reduceDisplay(newDisplayState("t"), accepted);
  const removed = reduceDisplay(queued, { type: "input_removed", inputId: "i", seq: 2, ...where });
  assert.deepEqual(
    [queued.status, queued.isRunning, removed.status, removed.isRunning],
    ["running", true, "idle", false],
  );
});

test("settled orders pending calls by the time of their question, also where an approval came after a question", async () => {
  const tools = { first: asking, second: asking };
  const model = script(call(["first", { question: "1?" }, "a"], ["second", { question: "2?" }, "b"]), say("done"));
  await using h = await harness({ model, tools });
  await h.post({ content: "go", delivery: "send" });
  await h.settled();
  await h.setPermissionForTool({ toolName: "second", policy: "ask" });
  await h.respondToToolSuspension({ toolCallId: "b", resumeData: "this" });
  const { pending } = await h.settled();
  assert.deepEqual(
    pending.map(({ toolCallId }) => toolCallId),
    ["a", "b"],
  );
});

test("settled keeps waiting for a thread that another process drives when its session switches to another thread", async () => {
  const data = new MemoryData();
  const { gate, started, open } = gated();
  await using drives = await harness({
    model: script(call("gate"), say("through")),
    tools: { gate },
    storage: new MemoryStore(data),
  });
  await drives.post({ content: "go", delivery: "send" });
  await started;
  await using waits = await harness({ model: script(), storage: new MemoryStore(data) });
  await waits.switchThread({ threadId: drives.getCurrentThreadId()! });
  const rest = waits.settled();
  await waits.createThread();
  open();
  assert.deepEqual(await rest, { status: "idle", pending: [] });
});

/** Delays the end of a turn. */
class SlowEnd extends MemoryStore {
  override async append(...args: Parameters<MemoryStore["append"]>): ReturnType<MemoryStore["append"]> {
    if (args[1].some(({ type }) => type === "agent_end")) for (let n = 0; n < 20; n++) await tick();
    return super.append(...args);
  }
}

test("a turn that is being aborted is not settled before it has ended, although only a question is open", async () => {
  const { note } = noting();
  const begun = Promise.withResolvers<void>();
  const slow = defineTool({
    description: "Works until it is stopped",
    input: z.object({}),
    execute(_, { signal }) {
      begun.resolve();
      return new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve("stopped")));
    },
  });
  const model = script(call(["slow", {}, "a"], ["note", { what: "it" }, "b"]));
  const permissions = [{ toolName: "slow", policy: "allow" as const }];
  const storage = new SlowEnd(new MemoryData());
  await using h = await harness({ model, tools: { note, slow }, permissions, storage });
  await h.post({ content: "go", delivery: "send" });
  await begun.promise;
  const rest = h.settled();
  await h.abort();
  assert.deepEqual(await rest, { status: "idle", pending: [] });
});

test("settled rejects with the reason of its signal, and the turn continues", async () => {
  const { gate, started, open } = gated();
  await using h = await harness({ model: script(call("gate"), say("done")), tools: { gate } });
  const turn = h.sendMessage({ content: "go" });
  await started;
  const leaving = new AbortController();
  const rest = h.settled({ signal: leaving.signal });
  const other = h.settled();
  const why = new Error("no longer needed");
  leaving.abort(why);
  await assert.rejects(rest, (error) => error === why || String(error).includes("no longer needed"));
  await assert.rejects(h.settled({ signal: AbortSignal.abort(why) }));
  open();
  assert.equal((await turn).reason, "complete");
  assert.deepEqual(await other, { status: "idle", pending: [] });
  assert.deepEqual(await h.settled({ signal: new AbortController().signal }), { status: "idle", pending: [] });
});
