import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore, textOf, type HarnessMessage } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, hang, say, script } from "@cinch/testkit";
import { gated, next, noting } from "../support.ts";

const results = (messages: readonly HarnessMessage[]): string[] =>
  messages.flatMap(({ outcomes }) => Object.values(outcomes).map(({ result }) => textOf(result.content)));

const notes = (messages: readonly HarnessMessage[]): string[] =>
  messages.filter(({ role }) => role === "note").map(({ content }) => textOf(content));

/** A subagent asks before it runs a tool. */
function asking(storage: MemoryStore, runs: unknown[] = []) {
  const { note } = noting(runs);
  const worker = new Agent({ name: "worker", model: script(call("note", { what: "x" }), say("ok")), tools: { note } });
  const model = script(call("task", { agent: "worker", prompt: "a" }), say("done"));
  return new Harness({ id: "t", agent: new Agent({ name: "dev", model, subagents: [worker] }), storage });
}

/** The threads that are open. */
const followers = (data: MemoryData): string[] =>
  Array.from(data.followers).flatMap(([id, { size }]) => (size > 0 ? `${id}: ${size}` : []));

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

test("the question of a subagent can be answered right after its parent was opened", async () => {
  const data = new MemoryData();
  const s1 = new MemoryStore(data);
  const h1 = asking(s1);
  h1.sendMessage({ content: "go" }).catch(() => undefined);
  const { pending } = await h1.settled();
  s1.die();
  const h = asking(new MemoryStore(data));
  const session = await h.createSession({ threadId: h1.getCurrentThreadId()! });
  await session.respondToToolApproval({ toolCallId: pending[0]!.toolCallId, decision: "approve" });
  assert.equal((await session.settled()).status, "idle");
  await h.close();
});

test("resume() right after a paused tree was opened continues its subagents", async () => {
  const data = new MemoryData();
  const make = (storage: MemoryStore, isStuck: boolean) => {
    const worker = new Agent({ name: "worker", model: script(isStuck ? hang("x") : say("ok")), tools: {} });
    const model = script(call("task", { agent: "worker", prompt: "a" }), say("done"));
    return new Harness({
      id: "t",
      agent: new Agent({ name: "dev", model, subagents: [worker] }),
      storage,
      onRecover: "pause",
    });
  };
  const s1 = new MemoryStore(data);
  const h1 = make(s1, true);
  const begun = next(h1, "subagent_text_delta");
  h1.sendMessage({ content: "go" }).catch(() => undefined);
  await begun;
  s1.die();
  const h = make(new MemoryStore(data), false);
  const session = await h.createSession({ threadId: h1.getCurrentThreadId()! });
  await session.resume();
  const r = await session.settled();
  assert.equal(r.status, "idle");
  await h.close();
});

test("the time in which no process drove a subagent does not count for its timeout", async () => {
  const data = new MemoryData();
  const make = (storage: MemoryStore, isStuck: boolean, offset: number) => {
    const worker = new Agent({
      name: "worker",
      model: script(isStuck ? hang("x") : say("ok", { size: 1, delayMs: 50 })),
      tools: {},
    });
    const model = script(call("task", { agent: "worker", prompt: "a", background: true }), say("done"), say("seen"));
    const clock = {
      now: () => Date.now() + offset,
      after: (ms: number, cb: () => void) => {
        const t = setTimeout(cb, ms);
        return () => clearTimeout(t);
      },
    };
    return new Harness({
      id: "t",
      clock,
      agent: new Agent({ name: "dev", model, subagents: [worker], subagentBackground: { timeout: 600_000 } }),
      storage,
    });
  };
  const s1 = new MemoryStore(data);
  const h1 = make(s1, true, 0);
  const begun = next(h1, "subagent_text_delta");
  await h1.sendMessage({ content: "go" });
  await begun;
  s1.die();
  const h = make(new MemoryStore(data), false, 3_600_000);
  const session = await h.createSession({ threadId: h1.getCurrentThreadId()! });
  await session.settled();
  assert.match(notes(session.getDisplayState().messages).join(), /complete/);
  await h.close();
});

test("the timeout of a background subagent, and of one that waits for its own, holds after a takeover in the middle of an answer", async () => {
  for (const isNested of [false, true]) {
    const data = new MemoryData();
    const make = (storage: MemoryStore) => {
      const answering = script(hang("x"), hang("y"));
      const search = new Agent({ name: "search", model: answering, tools: {} });
      const model = isNested ? script(call("task", { agent: "search", prompt: "b" }), say("ok")) : answering;
      const worker = new Agent({ name: "worker", model, tools: {}, subagents: isNested ? [search] : false });
      const starting = script(
        call("task", { agent: "worker", prompt: "a", background: true }),
        say("done"),
        say("seen"),
      );
      const subagentBackground = { timeout: 300 };
      const agent = new Agent({
        name: "dev",
        model: starting,
        subagents: [worker],
        maxSubagentDepth: 2,
        subagentBackground,
      });
      return new Harness({ id: "t", agent, storage });
    };
    const s1 = new MemoryStore(data);
    const h1 = make(s1);
    const begun = next(h1, "subagent_text_delta");
    await h1.sendMessage({ content: "go" });
    await begun;
    s1.die();
    const h = make(new MemoryStore(data));
    const ended = next(h, "background_settled");
    await h.switchThread({ threadId: h1.getCurrentThreadId()! });
    assert.equal((await ended).status, "timeout");
    await h.close();
  }
});

test("nothing stays open after a tree has ended and its sessions have left", async () => {
  const data = new MemoryData();
  const h = asking(new MemoryStore(data));
  await h.init();
  const session = await h.createSession();
  const turn = session.sendMessage({ content: "go" });
  turn.catch(() => undefined);
  await session.settled();
  const threadId = session.getCurrentThreadId()!;
  await session.close();
  await wait(50);
  assert.equal(followers(data).length, 2, "the caller of sendMessage waits");
  const s2 = await h.createSession({ threadId });
  await s2.settled();
  await s2.respondToToolApproval({ decision: "approve" });
  await turn;
  await s2.settled();
  while (followers(data).length > 1) await wait(5);
  assert.equal(followers(data).length, 1);
  await s2.close();
  while (followers(data).length > 0) await wait(5);
  await h.close();
});

test("a rule that another process sets while a grandchild works denies its call", async () => {
  const data = new MemoryData();
  const runs: unknown[] = [];
  const make = (storage: MemoryStore) => {
    const { note } = noting(runs);
    const search = new Agent({
      name: "search",
      model: script(async function* (o) {
        asked.resolve();
        await gate.promise;
        yield* call("note", { what: "x" })(o) as Iterable<never>;
      }, say("ok")),
      tools: { note },
    });
    const explore = new Agent({
      name: "explore",
      model: script(call("task", { agent: "search", prompt: "s" }), say("e")),
      tools: {},
      subagents: [search],
    });
    const model = script(call("task", { agent: "explore", prompt: "a" }), say("done"));
    return new Harness({
      id: "t",
      agent: new Agent({ name: "dev", model, subagents: [explore], maxSubagentDepth: 2 }),
      storage,
      initialState: { yolo: true },
    });
  };
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const h = make(new MemoryStore(data));
  const turn = h.sendMessage({ content: "go" });
  await asked.promise;
  const h2 = make(new MemoryStore(data));
  const session = await h2.createSession({ threadId: h.getCurrentThreadId()! });
  await session.setPermissionForTool({ toolName: "note", policy: "deny" });
  gate.resolve();
  await turn;
  assert.deepEqual(runs, []);
  await h2.close();
  await h.close();
});

test("a process without the agent of a subagent shows its question and leaves it alone", async () => {
  const data = new MemoryData();
  const s1 = new MemoryStore(data);
  const h1 = asking(s1);
  h1.sendMessage({ content: "go" }).catch(() => undefined);
  const { pending } = await h1.settled();
  s1.die();
  const other = new Harness({
    id: "t",
    agent: new Agent({ name: "dev", model: script(say("x")) }),
    storage: new MemoryStore(data),
  });
  const s = await other.createSession({ threadId: h1.getCurrentThreadId()! });
  const r = await s.settled();
  assert.equal(r.status, "waiting");
  await s.respondToToolApproval({ toolCallId: pending[0]!.toolCallId, decision: "approve" });
  await wait(700);
  await other.close();
  const h = asking(new MemoryStore(data));
  const session = await h.createSession({ threadId: h1.getCurrentThreadId()! });
  assert.equal((await session.settled()).status, "idle");
  assert.match(results(session.getDisplayState().messages)[0]!, /ok/);
  await h.close();
});

test("of two answers from two processes to a question of a subagent, one counts", async () => {
  const data = new MemoryData();
  const runs: unknown[] = [];
  const a = asking(new MemoryStore(data), runs);
  const b = asking(new MemoryStore(data), runs);
  const turn = a.sendMessage({ content: "go" });
  await a.settled();
  const sb = await b.createSession({ threadId: a.getCurrentThreadId()! });
  await sb.settled();
  const outcomes = await Promise.allSettled([
    a.respondToToolApproval({ decision: "approve" }),
    sb.respondToToolApproval({ decision: "approve" }),
  ]);
  await turn;
  assert.equal(runs.length, 1);
  assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
  const events = await new MemoryStore(data).read(a.getCurrentThreadId()!);
  assert.equal(events.filter(({ type }) => type === "subagent_end").length, 1);
  await b.close();
  await a.close();
});

test("to delete a subagent is its failure, and to delete its parent ends it", async () => {
  const make = (storage: MemoryStore) => {
    const worker = new Agent({ name: "worker", model: script(hang("x")), tools: {} });
    const model = script(call("task", { agent: "worker", prompt: "a" }), say("done"));
    return new Harness({ id: "t", agent: new Agent({ name: "dev", model, subagents: [worker] }), storage });
  };
  {
    const h = make(memoryStore());
    const begun = next(h, "subagent_text_delta");
    const turn = h.sendMessage({ content: "go" });
    await begun;
    const [child] = await h.listThreads({ parentId: h.getCurrentThreadId()! });
    await h.deleteThread({ threadId: child!.id });
    assert.equal((await turn).reason, "complete");
    assert.match(results(h.getDisplayState().messages)[0]!, /deleted/);
    await h.close();
  }
  {
    const data = new MemoryData();
    const h = make(new MemoryStore(data));
    const begun = next(h, "subagent_text_delta");
    const turn = h.sendMessage({ content: "go" });
    turn.catch(() => undefined);
    await begun;
    await h.deleteThread({ threadId: h.getCurrentThreadId()! });
    await assert.rejects(turn);
    while (followers(data).length > 0) await wait(5);
    await h.close();
  }
  {
    const data = new MemoryData();
    const s1 = new MemoryStore(data);
    const h1 = make(s1);
    const begun = next(h1, "subagent_text_delta");
    h1.sendMessage({ content: "go" }).catch(() => undefined);
    await begun;
    const threadId = h1.getCurrentThreadId()!;
    s1.die();
    const s2 = new MemoryStore(data);
    const [child] = await s2.threads({ parentId: threadId });
    await s2.deleteThread(child!.id);
    const h = make(s2);
    const session = await h.createSession({ threadId });
    assert.equal((await session.settled()).status, "idle");
    assert.match(results(session.getDisplayState().messages)[0]!, /deleted/);
    await h.close();
  }
});

test("onSubagentEvent is called by the process that drives the subagent, and not by one that follows", async () => {
  const data = new MemoryData();
  const { gate, started, open } = gated();
  const make = () => {
    const seen: string[] = [];
    const worker = new Agent({ name: "worker", model: script(call("gate"), say("ok")), tools: { gate } });
    const agent = new Agent({
      name: "dev",
      model: script(call("task", { agent: "worker", prompt: "x" }), say("done")),
      subagents: [worker],
      onSubagentEvent: (_, event) => void seen.push(event.type),
    });
    const permissions = [{ toolName: "gate", policy: "allow" as const }];
    return { h: new Harness({ id: "t", agent, storage: new MemoryStore(data), permissions }), seen };
  };
  const driving = make();
  const turn = driving.h.sendMessage({ content: "go" });
  await started;
  const following = make();
  const session = await following.h.createSession({ threadId: driving.h.getCurrentThreadId()! });
  const [child] = await session.listThreads({ parentId: driving.h.getCurrentThreadId()! });
  const atChild = await driving.h.createSession({ threadId: child!.id });
  const followed = next(session, "subagent_event");
  await atChild.steer({ content: "Hurry" });
  await followed;
  open();
  assert.equal((await turn).reason, "complete");
  await session.settled();
  assert.deepEqual(following.seen, []);
  assert.ok(driving.seen.includes("tool_end"));
  await following.h.close();
  await driving.h.close();
});
