import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Agent, CinchError, defineTool, Harness, memoryStore, type Session } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, hang, say, scriptedBy } from "@cinch/testkit";
import * as z from "zod";

const codeOf = (answered: Promise<void>): Promise<string> =>
  answered.then(
    () => "accepted",
    (error: { code: string }) => error.code,
  );

/** Two tools, one that needs an approval and one that asks for data. Both note what they did. */
function tools(done: string[]) {
  const input = z.object({ what: z.string() });
  const act = defineTool({
    description: "Acts",
    input,
    execute: ({ what }) => {
      done.push(what);
      return "done";
    },
  });
  const ask = defineTool({
    description: "Asks",
    category: "read",
    effect: "pure",
    input,
    execute: ({ what }, { suspend, resumed }) => {
      if (!resumed) return suspend({ what });
      done.push(`${what}: ${String(resumed.data)}`);
      return "done";
    },
  });
  return { act, ask };
}

const HOW = {
  act: (session: Session, address: object) => session.respondToToolApproval({ ...address, decision: "approve" }),
  ask: (session: Session, address: object) => session.respondToToolSuspension({ ...address, resumeData: "yes" }),
};

/** Asks twice, with the same call id. */
const askingTwice = (tool: "act" | "ask") =>
  scriptedBy(({ prompt }) => {
    const what = ["harmless", "dangerous"][prompt.filter(({ role }) => role === "tool").length];
    return what === undefined ? say("ok") : call(tool, { what }, "call_0");
  });

for (const tool of ["act", "ask"] as const)
  describe(`an answer to "${tool}" is for the question that its giver saw, not for a later one with the same call id`, () => {
    for (const where of ["its own thread", "a subagent"] as const)
      for (const [seat, named] of [
        ["there", "by the call id"],
        ["there", "by the call id and the thread"],
        ["there", "by nothing"],
        ["elsewhere", "by the call id and the thread"],
      ] as const)
        test(`in ${where}, named ${named}, by a session that is ${seat}`, async () => {
          const done: string[] = [];
          const model = askingTwice(tool);
          const worker = new Agent({ name: "worker", model, tools: tools(done) });
          const lead = scriptedBy(({ prompt }) =>
            prompt.at(-1)?.role === "tool" ? say("ok") : call("task", { agent: "worker", prompt: "go" }),
          );
          const isOwn = where === "its own thread";
          const agent = new Agent({
            name: "lead",
            model: isOwn ? model : lead,
            tools: isOwn ? tools(done) : {},
            subagents: [worker],
          });
          const slow = Promise.withResolvers<void>();
          const resolveModel = async () => {
            await slow.promise;
            return model;
          };
          const h = new Harness({ id: "t", agent, storage: memoryStore(), resolveModel });
          const { id } = await h.createThread();
          const turn = h.sendMessage({ content: "go" });
          const [first] = (await h.settled()).pending;
          const other = await h.createSession(seat === "there" ? { threadId: id } : {});
          if (seat === "elsewhere") await other.createThread();
          const { toolCallId, threadId } = first!;
          const blocking = other.switchModel({ modelId: "slow" });
          const address = {
            "by the call id": { toolCallId },
            "by the call id and the thread": { toolCallId, threadId },
            "by nothing": {},
          }[named];
          const late = codeOf(HOW[tool](other, address));
          // Time for a thread that is not open in the session to be looked into.
          await new Promise((resolve) => setTimeout(resolve, 20));
          await HOW[tool](h as unknown as Session, {});
          assert.equal((await h.settled()).pending.length, 1);
          slow.resolve();
          await blocking;
          assert.equal(await late, "NOT_PENDING");
          assert.deepEqual(done, [tool === "act" ? "harmless" : "harmless: yes"]);
          await HOW[tool](other, { toolCallId, threadId });
          assert.equal((await turn).reason, "complete");
          assert.equal(done.length, 2);
          await h.close();
        });
  });

/** Does not hear of what others append. */
class DeafStore extends MemoryStore {
  override follow(): () => void {
    return () => undefined;
  }
}

for (const tool of ["act", "ask"] as const)
  test(`an answer to "${tool}" that names a newer question of a subagent than its process knows is for that one`, async () => {
    const data = new MemoryData();
    const done: string[] = [];
    const make = (storage: MemoryStore) => {
      const worker = new Agent({ name: "worker", model: askingTwice(tool), tools: tools(done) });
      const model = scriptedBy(({ prompt }) =>
        prompt.at(-1)?.role === "tool" ? say("ok") : call("task", { agent: "worker", prompt: "go" }),
      );
      return new Harness({ id: "t", agent: new Agent({ name: "lead", model, subagents: [worker] }), storage });
    };
    const h = make(new MemoryStore(data));
    const { id: threadId } = await h.createThread();
    const turn = h.sendMessage({ content: "go" });
    await h.settled();
    const other = make(new DeafStore(data));
    const deaf = await other.createSession({ threadId });
    const [seen] = (await deaf.settled()).pending;
    await HOW[tool](h as unknown as Session, {});
    const [newer] = (await h.settled()).pending;
    assert.notEqual(newer!.seq, seen!.seq);
    const { toolCallId, seq } = newer!;
    const name = "digest" in newer! ? { digest: newer.digest } : { seq };
    await HOW[tool](deaf, { toolCallId, ...name });
    assert.equal((await turn).reason, "complete");
    assert.equal(done.length, 2);
    await other.close();
    await h.close();
  });

/** Two threads that wait for an approval, one of them in a subagent, in a process that has just opened neither. */
async function twoThreads(done: string[], open = (data: MemoryData) => new MemoryStore(data)) {
  const data = new MemoryData();
  const make = (storage: MemoryStore) => {
    const worker = new Agent({
      name: "worker",
      tools: tools(done),
      model: scriptedBy(({ prompt }) =>
        prompt.at(-1)?.role === "tool" ? say("ok") : call("act", { what: "child of A" }),
      ),
    });
    const model = scriptedBy(({ prompt }) => {
      if (prompt.at(-1)?.role === "tool") return say("ok");
      const isDelegated = JSON.stringify(prompt.at(-1)).includes("delegate");
      return isDelegated ? call("task", { agent: "worker", prompt: "go" }) : call("act", { what: "B" });
    });
    return new Harness({
      id: "t",
      agent: new Agent({ name: "lead", model, tools: tools(done), subagents: [worker] }),
      storage,
    });
  };
  const before = make(new MemoryStore(data));
  const ids: string[] = [];
  for (const content of ["delegate", "act"]) {
    const { id } = await before.createThread();
    ids.push(id);
    before.sendMessage({ content }).catch(() => undefined);
    await before.settled();
  }
  await before.close();
  const [a = "", b = ""] = ids;
  return { a, b, h: make(open(data)) };
}

test("an answer to a thread that can't be read now fails, and is not given later", async () => {
  const done: string[] = [];
  let isAway = true;
  class Busy extends MemoryStore {
    override async read(...args: Parameters<MemoryStore["read"]>) {
      if (args[0] !== b || !isAway) return super.read(...args);
      isAway = false;
      throw new CinchError("STORE_BUSY", "The database does not answer.");
    }
  }
  const { b, h } = await twoThreads(done, (data) => new Busy(data));
  assert.equal(await codeOf(h.respondToToolApproval({ threadId: b, decision: "approve" })), "STORE_BUSY");
  assert.deepEqual([isAway, done], [false, []]);
  await h.close();
});

test("an answer is for the thread that was current at the call, also while its subagents are being opened", async () => {
  const done: string[] = [];
  const { a, b, h } = await twoThreads(done);
  const session = await h.createSession();
  await session.switchThread({ threadId: a });
  const answered = codeOf(session.respondToToolApproval({ decision: "approve" }));
  const left = session.switchThread({ threadId: b });
  assert.equal(await answered, "accepted");
  await left;
  await session.switchThread({ threadId: a });
  await session.settled();
  assert.deepEqual(done, ["child of A"]);
  await h.close();
});

test("an answer is for the thread that was current at the call, also if the session leaves it before the answer is given", async () => {
  const done: string[] = [];
  const { a, b, h } = await twoThreads(done);
  const session = await h.createSession();
  await session.switchThread({ threadId: a });
  const left = session.switchThread({ threadId: b });
  assert.equal(await codeOf(session.respondToToolApproval({ decision: "approve" })), "accepted");
  await left;
  await session.switchThread({ threadId: a });
  await session.settled();
  assert.deepEqual(done, ["child of A"]);
  await h.close();
});

test("an answer keeps its place among the commands while the subagents of its thread are being opened", async () => {
  const done: string[] = [];
  const { a, h } = await twoThreads(done);
  const session = await h.createSession();
  await session.switchThread({ threadId: a });
  const settled: string[] = [];
  await Promise.all([
    session.respondToToolApproval({ decision: "decline", message: "no" }).then(() => settled.push("answer")),
    session.setState({ n: 1 }).then(() => settled.push("state")),
    session.respondToToolApproval({ decision: "approve" }).catch(() => settled.push("second answer")),
  ]);
  assert.deepEqual(settled, ["answer", "state", "second answer"]);
  assert.deepEqual(done, []);
  await h.close();
});

/** Other threads than one of them can't be read until the test says so. */
class SlowElsewhere extends MemoryStore {
  readonly #quick: string;
  readonly back = Promise.withResolvers<void>();

  constructor(data: MemoryData, quick: string) {
    super(data);
    this.#quick = quick;
  }

  override async read(...args: Parameters<MemoryStore["read"]>) {
    if (args[0] !== this.#quick) await this.back.promise;
    return super.read(...args);
  }
}

/** Whether each of the calls waits for an approval, or has started its subagent. */
const hasAsked = (h: Harness, calls: number): boolean => {
  const { pendingApprovals, activeSubagents } = h.getDisplayState();
  return Object.keys(pendingApprovals).length + Object.keys(activeSubagents).length === calls;
};

for (const whileWhat of ["subagents are opened", "another answer is looked for"])
  test(`an answer for the oldest question is not for the next one if another process answers first, while ${whileWhat}`, async () => {
    const data = new MemoryData();
    const done: string[] = [];
    const asks: [string, unknown, string][] = [
      ["act", { what: "harmless" }, "n1"],
      ["act", { what: "dangerous" }, "n2"],
    ];
    const delegates: [string, unknown, string] = ["task", { agent: "worker", prompt: "stay" }, "t"];
    const calls = whileWhat === "subagents are opened" ? [delegates, ...asks] : asks;
    const make = (storage: MemoryStore) => {
      const worker = new Agent({ name: "worker", model: scriptedBy(() => hang("…")), tools: {} });
      const model = scriptedBy(({ prompt }) => (prompt.at(-1)?.role === "user" ? call(...calls) : say("ok")));
      const agent = new Agent({ name: "lead", model, tools: tools(done), subagents: [worker] });
      return new Harness({ id: "t", agent, storage });
    };
    const other = make(new MemoryStore(data));
    const { id: otherId } = await other.createThread();
    const { id: threadId } = await other.createThread();
    const turn = other.sendMessage({ content: "go" });
    while (!hasAsked(other, calls.length)) await new Promise((resolve) => setTimeout(resolve, 5));
    const store = new SlowElsewhere(data, threadId);
    const h = make(store);
    await h.switchThread({ threadId });
    const elsewhere =
      whileWhat === "subagents are opened" ? null : h.respondToToolApproval({ threadId: otherId, decision: "approve" });
    const answered = codeOf(h.respondToToolApproval({ decision: "approve" }));
    await other.respondToToolApproval({ toolCallId: "n1", decision: "decline", message: "No." });
    store.back.resolve();
    await assert.rejects(elsewhere ?? Promise.reject(new Error("none")));
    assert.match(await answered, /^(NOT_PENDING|ALREADY_ANSWERED)$/);
    assert.deepEqual(done, []);
    await other.abort();
    assert.equal((await turn).reason, "aborted");
    await h.close();
    await other.close();
  });

test("answers to the oldest question that are given at once, while subagents are opened, are for different questions", async () => {
  const data = new MemoryData();
  const done: string[] = [];
  const make = (storage: MemoryStore) => {
    const worker = new Agent({ name: "worker", model: scriptedBy(() => hang("…")), tools: {} });
    const ask = (what: string): [string, unknown] => ["act", { what }];
    const calls = [["task", { agent: "worker", prompt: "stay" }] as [string, unknown], ...["a", "b", "c"].map(ask)];
    const model = scriptedBy(({ prompt }) => (prompt.at(-1)?.role === "user" ? call(...calls) : say("ok")));
    return new Harness({
      id: "t",
      agent: new Agent({ name: "lead", model, tools: tools(done), subagents: [worker] }),
      storage,
    });
  };
  const other = make(new MemoryStore(data));
  const { id: threadId } = await other.createThread();
  const turn = other.sendMessage({ content: "go" });
  while (!hasAsked(other, 4)) await new Promise((resolve) => setTimeout(resolve, 5));
  const store = new SlowElsewhere(data, threadId);
  const h = make(store);
  await h.switchThread({ threadId });
  const answers = [1, 2, 3].map(() => codeOf(h.respondToToolApproval({ decision: "approve" })));
  store.back.resolve();
  assert.deepEqual(await Promise.all(answers), ["accepted", "accepted", "accepted"]);
  while (done.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
  await other.abort();
  await turn;
  await h.close();
  await other.close();
});

test("an answer that names a thread can be the first call of a process, also if its store can't be opened at once", async () => {
  const data = new MemoryData();
  const done: string[] = [];
  const model = scriptedBy(({ prompt }) => (prompt.at(-1)?.role === "tool" ? say("ok") : call("act", { what: "it" })));
  const make = (storage: MemoryStore) =>
    new Harness({ id: "test", storage, agent: new Agent({ name: "a", model, tools: tools(done) }) });
  const before = make(memoryStore(data));
  const { id: threadId } = await before.createThread();
  await before.post({ content: "go", delivery: "send" });
  assert.equal((await before.settled()).status, "waiting");
  await before.close();
  let opened = 0;
  class Opening extends MemoryStore {
    override async open(): Promise<void> {
      if (++opened === 1) throw new CinchError("STORE_FAILED", "The disk has an error.");
      await super.open();
    }
    override async thread(...args: Parameters<MemoryStore["thread"]>) {
      assert.ok(opened > 1, "the store was asked before it was opened");
      return super.thread(...args);
    }
  }
  const h = make(new Opening(data));
  assert.equal(await codeOf(h.respondToToolApproval({ threadId, decision: "approve" })), "STORE_FAILED");
  assert.equal(await codeOf(h.respondToToolApproval({ threadId, decision: "approve" })), "accepted");
  await h.switchThread({ threadId });
  await h.settled();
  assert.deepEqual(done, ["it"]);
  await h.close();
});
