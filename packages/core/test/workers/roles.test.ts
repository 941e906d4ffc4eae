import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore } from "@cinch/core";
import { call, hang, inTurn, say, script, scriptedBy } from "@cinch/testkit";
import { bestOfThree } from "../../../testkit/test/best-of-three.ts";
import { asking, gated, next, noting, texts } from "../support.ts";
import { Engine } from "./engine.ts";
import { eventually, Team } from "./team.ts";

/** A model for a process that must not ask it. */
const unused = () => script();

/** For what would otherwise wait for ever. */
const LIMIT = { timeout: 20_000 };

test("a message sent at a front is answered by a worker, and its caller gets the result", async () => {
  await using team = new Team();
  const worker = await team.worker({ model: script(say("Hello.")) });
  const front = await team.front({ model: unused() });
  const { reason, message } = await front.sendMessage({ content: "Hi" });
  assert.deepEqual([reason, message?.content], ["complete", [{ type: "text", text: "Hello." }]]);
  assert.deepEqual(texts(front.seen), ["user: Hi", "assistant: Hello."]);
  assert.equal(front.load().turns, 0);
  await eventually(() => worker.load().turns === 0);
});

test("an engine that loses, refuses or forgets every wake costs time, and nothing else", async () => {
  for (const fate of ["lost", "fails", "hangs"] as const) {
    const engine = new Engine();
    engine.otherwise = fate;
    await using team = new Team(engine);
    await team.worker({ model: script(say("Found.")) });
    const front = await team.front({ model: unused() });
    const sent = Date.now();
    assert.equal((await front.sendMessage({ content: "Hi" })).reason, "complete");
    assert.ok(Date.now() - sent < 30_000);
  }
});

test("a wake that arrives twice is one drive", async () => {
  await using team = new Team(new Engine("twice"));
  await team.worker({ model: script(say("Once.")) });
  await team.worker({ model: script(say("Once.")) });
  const front = await team.front({ model: unused() });
  await front.sendMessage({ content: "Hi" });
  assert.deepEqual(texts(front.seen), ["user: Hi", "assistant: Once."]);
});

test("a command to a thread that has a driver wakes no worker", async () => {
  await using team = new Team();
  const { gate, started, open } = gated();
  await team.worker({ model: script(call("gate"), say("a"), say("b")), tools: { gate } });
  const front = await team.front({ model: unused() });
  const turn = front.sendMessage({ content: "go" });
  await started;
  const queued = front.sendMessage({ content: "then this" });
  await front.steer({ content: "and this" });
  open();
  assert.deepEqual([(await turn).reason, (await queued).reason], ["complete", "complete"]);
  assert.equal(team.engine.wakes.length, 1);
});

test("a front that nobody works for drives nothing, whatever is asked of it", async () => {
  await using team = new Team();
  const { note, runs } = noting();
  const model = script(call("note", { what: "x" }), say("done"));
  const front = await team.front({ model, tools: { note }, recover: "all" });
  const { inputId } = await front.followUp({ content: "go" });
  await front.switchMode({ modeId: "default" });
  await front.editInput({ inputId, content: "edited" });
  await front.resume();
  const { id } = (await front.listThreads())[0]!;
  await front.cloneThread({ sourceThreadId: id });
  await front.switchThread({ threadId: id });
  await new Promise((resolve) => setTimeout(resolve, 700));
  assert.deepEqual([model.requests.length, runs, await front.drive({ threadId: id })], [0, [], "busy"]);
  assert.equal((await front.store.lease(id)).epoch, 0);
  assert.equal(front.getDisplayState().status, "running");
});

test("an abort at a front ends a turn that another process drives within 2 s", async () => {
  await bestOfThree(2_000, async () => {
    await using team = new Team();
    await team.worker({ model: script(hang("…")) });
    const front = await team.front({ model: unused() });
    const turn = front.sendMessage({ content: "go" });
    await next(front, "agent_start");
    const asked = performance.now();
    await front.abort();
    const ms = performance.now() - asked;
    assert.equal((await turn).reason, "aborted");
    return ms;
  });
});

test("an approval at a front is carried out by a worker", async () => {
  await using team = new Team();
  const { note, runs } = noting();
  await team.worker({ model: script(call("note", { what: "x" }), say("done")), tools: { note }, permissions: [] });
  const front = await team.front({ model: unused(), tools: { note }, permissions: [] });
  const asked = next(front, "tool_approval_required");
  const turn = front.sendMessage({ content: "go" });
  await asked;
  await front.respondToToolApproval({ decision: "approve" });
  assert.equal((await turn).reason, "complete");
  assert.equal(runs.length, 1);
});

test("an answer at a front continues a suspended call in a worker", async () => {
  await using team = new Team();
  await team.worker({ model: script(call("ask", { question: "Which?" }), say("thanks")), tools: { ask: asking } });
  const front = await team.front({ model: unused(), tools: { ask: asking } });
  const asked = next(front, "tool_suspended");
  const turn = front.sendMessage({ content: "go" });
  await asked;
  assert.equal((await front.settled()).status, "waiting");
  await front.respondToToolSuspension({ resumeData: "SQLite" });
  assert.equal((await turn).reason, "complete");
});

test("inputs that an abort held back go on in a worker after resume() at a front", async () => {
  await using team = new Team();
  const model = script(inTurn(hang("…"), say("second")), say("third"));
  await team.worker({ model });
  const front = await team.front({ model: unused() });
  const turn = front.sendMessage({ content: "one" });
  await eventually(() => model.requests.length === 1);
  const queued = front.sendMessage({ content: "two" });
  await front.followUp({ content: "three" });
  await front.abort();
  assert.equal((await turn).reason, "aborted");
  assert.equal((await front.settled()).status, "idle");
  const before = team.engine.wakes.length;
  await front.resume();
  await eventually(() => team.engine.wakes.length > before);
  assert.equal((await queued).reason, "complete");
});

test("a turn whose driver died is continued by another worker within 5 s, and the caller at the front gets its result", async () => {
  await bestOfThree(5_000, async () => {
    await using team = new Team();
    const dying = await team.worker({ model: script(hang("half")) });
    const front = await team.front({ model: unused() });
    const turn = front.sendMessage({ content: "go" });
    const threadId = () => front.getCurrentThreadId();
    await eventually(async () => threadId() !== null && (await front.store.lease(threadId()!)).status === "held");
    await team.worker({ model: script(say("whole")) });
    dying.store.die();
    const died = performance.now();
    assert.equal((await turn).reason, "complete");
    return performance.now() - died;
  });
});

test(
  'onRecover: "pause" parks a turn whose driver died, not one that was handed over, until resume() at a front',
  LIMIT,
  async () => {
    await using team = new Team();
    const { gate, started, open } = gated("pure");
    const options = { tools: { gate }, onRecover: "pause" as const };
    const steps = () => script(call("gate"), say("done"));
    const dying = await team.worker({ model: steps(), ...options });
    const front = await team.front({ model: unused(), ...options });
    const turn = front.sendMessage({ content: "go" });
    await started;
    const leaving = await team.worker({ model: steps(), ...options });
    dying.store.die();
    await eventually(() => front.getDisplayState().status === "parked");
    await front.resume();
    await eventually(() => leaving.load().turns === 1);
    const drained = leaving.drain();
    await team.worker({ model: steps(), ...options });
    open();
    await drained;
    assert.equal((await turn).reason, "complete");
  },
);

test("all workers are gone: threads stay awake, and the first worker takes them", async () => {
  await using team = new Team();
  const front = await team.front({ model: unused() });
  const turns: Promise<{ reason: string }>[] = [];
  for (const content of ["a", "b", "c"]) {
    await front.createThread();
    turns.push(front.sendMessage({ content }));
  }
  await eventually(async () => (await front.store.load()).awake === 3);
  await team.worker({ model: script(say("a"), say("b"), say("c")) });
  assert.deepEqual(
    (await Promise.all(turns)).map(({ reason }) => reason),
    ["complete", "complete", "complete"],
  );
  assert.deepEqual(await front.store.load(), { awake: 0, oldestAwakeMs: 0, driven: 0 });
});

test("a worker that is woken while its drive ends goes on with the thread", LIMIT, async () => {
  await using team = new Team();
  const storage = memoryStore(team.data);
  const { append, stranded } = storage;
  const released = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  storage.append = async (...args) => {
    const result = await append.apply(storage, args);
    if (args[2].release) {
      released.resolve();
      await held.promise;
    }
    return result;
  };
  await team.worker({ model: scriptedBy(() => say("Yes.")), storage });
  const front = await team.front({ model: unused() });
  const first = front.sendMessage({ content: "one" });
  await released.promise;
  // Recovery would find it.
  storage.stranded = async () => [];
  const second = front.sendMessage({ content: "two" });
  await eventually(() => team.engine.wakes.length === 2);
  held.resolve();
  for (const { reason } of await Promise.all([first, second])) assert.equal(reason, "complete");
  storage.stranded = stranded;
});

test("a worker leaves a thread whose tool it lacks to one that has it", LIMIT, async () => {
  await using team = new Team();
  const { note, runs } = noting();
  const asks = { permissions: [] };
  await team.worker({ model: script(call("note", { what: "x" }), say("done")), tools: { note }, ...asks });
  const front = await team.front({ model: unused(), tools: { note }, ...asks });
  const asked = next(front, "tool_approval_required");
  const turn = front.sendMessage({ content: "go" });
  await asked;
  const unable = await team.worker({ model: unused(), ...asks });
  await front.respondToToolApproval({ decision: "approve" });
  assert.equal((await turn).reason, "complete");
  const [threadId] = team.engine.wakes;
  await eventually(() => team.engine.outcomes.length === 3);
  assert.deepEqual(
    team.engine.outcomes.map(({ outcome }) => outcome),
    ["done", "busy", "done"],
  );
  assert.deepEqual([runs.length, await unable.drive({ threadId: threadId! })], [1, "done"]);
});

test("worker without placement is INVALID_CONFIG, and so are a placement without methods and limits below 1", () => {
  const make = (options: object) =>
    new Harness({ id: "t", agent: new Agent({ name: "a", model: unused() }), storage: memoryStore(), ...options });
  const placement = new Engine().placement();
  assert.throws(() => make({ worker: {} }), { code: "INVALID_CONFIG", message: /worker needs a placement/ });
  assert.throws(() => make({ placement: {} }), { code: "INVALID_CONFIG", message: /must be a placement/ });
  assert.throws(() => make({ placement, worker: { maxThreads: 0 } }), {
    code: "INVALID_CONFIG",
    message: /maxThreads/,
  });
  assert.throws(() => make({ placement, worker: { maxThread: 1 } }), { code: "INVALID_CONFIG", message: /maxThreads/ });
  make({ placement, worker: { maxThreads: 1, maxPerResource: 1 } });
});

test("without a placement, drive() opens a thread and drives it until it rests", async () => {
  const { gate, started, open } = gated();
  const storage = memoryStore();
  const agent = new Agent({ name: "a", model: script(call("gate"), say("done")), tools: { gate } });
  const h = new Harness({ id: "t", agent, storage, permissions: [{ category: "other", policy: "allow" }] });
  const turn = h.sendMessage({ content: "go" });
  await started;
  const driven = h.drive({ threadId: h.getCurrentThreadId()! });
  open();
  assert.equal(await driven, "done");
  assert.equal((await turn).reason, "complete");
  assert.equal(await h.drive({ threadId: "unknown" }), "done");
  await h.close();
});

test("a placement whose every call fails or hangs holds up neither a worker nor its close", async () => {
  const fails = async () => {
    throw new Error("The engine is down.");
  };
  const hangs = () => new Promise<void>(() => undefined);
  const throws = () => {
    throw Object.create(null);
  };
  // As a program without types may write them.
  const returns = (): Promise<void> => undefined!;
  for (const does of [fails, hangs, throws, returns]) {
    await using team = new Team();
    const placement = { serve: does, wake: does, drain: does, close: does };
    const live = { open: async () => ({}), follow: () => () => undefined, close: does };
    const worker = await team.worker({ model: script(say("Hello.")), placement, live });
    let isStoreClosed = false;
    const { close } = worker.store;
    worker.store.close = () => {
      isStoreClosed = true;
      return close.call(worker.store);
    };
    assert.equal((await worker.sendMessage({ content: "Hi" })).reason, "complete");
    await worker.close();
    assert.ok(isStoreClosed, "and its leases are released");
  }
});

test("a placement that can't be opened fails init with the reason, and the next init tries again", async () => {
  let isDown = true;
  const open = async () => {
    if (isDown) throw new Error("The engine refused the key.");
  };
  const agent = new Agent({ name: "a", model: unused() });
  const h = new Harness({ id: "t", agent, placement: { ...new Engine().placement(), open } });
  await assert.rejects(h.init(), { code: "INVALID_CONFIG", message: /refused the key/ });
  isDown = false;
  await h.init();
  await h.close();
});

test("a scheduled message of a thread that no process has open is taken by a worker within a second of its time", async () => {
  await bestOfThree(2_000, async () => {
    await using team = new Team();
    await team.worker({ model: script(say("Good morning.")) });
    const front = await team.front({ model: unused() });
    const { id } = await front.createThread();
    const at = Date.now() + 700;
    await front.followUp({ content: "Wake me", at });
    await front.createThread();
    const taken = async () => (await front.store.read(id)).find(({ type }) => type === "input_taken")?.at;
    await eventually(async () => (await taken()) !== undefined);
    const late = (await taken())! - at;
    assert.ok(late >= 0, `${-late} ms before its time`);
    await eventually(async () => (await front.store.load()).awake === 0);
    return late;
  });
});

test("a rewind at a front ends the turn that a worker drives, and the next message begins after the cut", async () => {
  await using team = new Team();
  const model = script(say("one"), inTurn(hang("…"), say("again")));
  await team.worker({ model });
  const front = await team.front({ model: unused() });
  await front.sendMessage({ content: "first" });
  const { seq: toSeq } = (await front.listEvents({ limit: 1_000 })).at(-1)!;
  const turn = front.sendMessage({ content: "second" });
  await eventually(() => model.requests.length === 2);
  await front.rewind({ toSeq });
  assert.equal((await turn).reason, "aborted");
  assert.equal((await front.sendMessage({ content: "third" })).reason, "complete");
  assert.deepEqual(
    front.getDisplayState().messages.map(({ content }) => content.map((part) => ("text" in part ? part.text : ""))),
    [["first"], ["one"], ["third"], ["again"]],
  );
});
