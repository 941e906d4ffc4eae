import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, type Budget, type HarnessConfig } from "@cinch/core";
import { MemoryData, MemoryStore, type AppendOptions, type AppendResult } from "@cinch/core/store";
import type { StampedEvent } from "@cinch/core/journal";
import { call, hang, say, script, scriptedBy } from "@cinch/testkit";
import { gated, noting, permissions } from "../support.ts";
import { heldBack, outcomesOf } from "./requests.ts";

// Each answer of a scripted model uses 110 tokens.

/** A store in which one kind of operation waits until the test lets it continue. */
class HoldingStore extends MemoryStore {
  /** Whether an append, or the first lookup of a thread, waits. */
  isHeld: (threadId: string, events: readonly StampedEvent[]) => boolean = () => false;
  readonly #reached = Promise.withResolvers<void>();
  readonly #released = Promise.withResolvers<void>();
  readonly #expected: { type: string; resolve(): void }[] = [];

  constructor(data = new MemoryData()) {
    super(data);
  }

  /** Settles when an operation waits. */
  get reached(): Promise<void> {
    return this.#reached.promise;
  }

  letGo(): void {
    this.#released.resolve();
  }

  /** Settles when the next event of this type is appended. */
  next(type: string): Promise<void> {
    return new Promise((resolve) => void this.#expected.push({ type, resolve }));
  }

  override async append(id: string, events: readonly StampedEvent[], options: AppendOptions): Promise<AppendResult> {
    await this.#hold(id, events);
    const result = await super.append(id, events, options);
    for (const { type, resolve } of this.#expected) if (events.some((event) => event.type === type)) resolve();
    return result;
  }

  override async thread(threadId: string) {
    await this.#hold(threadId, []);
    return super.thread(threadId);
  }

  async #hold(threadId: string, events: readonly StampedEvent[]): Promise<void> {
    if (!this.isHeld(threadId, events)) return;
    this.#reached.resolve();
    await this.#released.promise;
  }
}

const isEnd = (_: string, events: readonly StampedEvent[]) => events.some(({ type }) => type === "subagent_end");

/** A model that calls a tool, and then must not be asked again. `again`: it was. */
function stopping(toolName: string) {
  const again = Promise.withResolvers<void>();
  const model = scriptedBy(({ prompt }) => {
    if (prompt.every(({ role }) => role !== "assistant")) return call(toolName, {});
    again.resolve();
    return say("over budget");
  });
  return { model, again: again.promise };
}

/** A lead that starts "quick" and "slow" at once. Slow calls a gate, and quick answers when the test lets it. */
function quickAndSlow(budget: Budget) {
  const storage = new HoldingStore();
  const { gate, started, open } = gated();
  const last = heldBack(say("done"));
  const { model: busy, again } = stopping("gate");
  const answer = (options: Parameters<typeof last.step>[0]) =>
    JSON.stringify(options.prompt).includes("More") ? say("more") : last.step;
  const quick = new Agent({ name: "quick", model: scriptedBy(answer), tools: {} });
  const slow = new Agent({ name: "slow", model: busy, tools: { gate } });
  const both = call(["task", { agent: "quick", prompt: "a" }, "a"], ["task", { agent: "slow", prompt: "b" }, "b"]);
  const lead = new Agent({ name: "lead", model: script(both), subagents: [quick, slow], budget });
  const h = new Harness({ id: "t", agent: lead, storage, permissions });
  return { h, storage, last, busy, again, started, open };
}

const outcomes = (h: Harness): string[] => outcomesOf(h.getDisplayState()).map(({ text }) => text);

test("what a subagent used counts between its end and the record of its end", async () => {
  const { h, storage, last, busy, again, started, open } = quickAndSlow({ tokens: 300 });
  storage.isHeld = isEnd;
  const turn = h.sendMessage({ content: "go" });
  await Promise.all([last.asked, started]);
  last.open();
  await storage.reached;
  const ended = storage.next("agent_end");
  open();
  await Promise.race([ended, again]);
  storage.letGo();
  assert.equal((await turn).reason, "budget");
  assert.equal(busy.requests.length, 1);
  assert.match(outcomes(h)[1]!, /reached its budget \(330 of 300 tokens for a turn, of a thread above this one\)/);
  await h.close();
});

test("a run counts until its end is recorded, also if a person has continued its thread since; what the person asked for does not", async () => {
  const { h, storage, last, busy, again, started, open } = quickAndSlow({ tokens: 300 });
  storage.isHeld = isEnd;
  const turn = h.sendMessage({ content: "go" });
  await Promise.all([last.asked, started]);
  const children = await h.listThreads({ parentId: h.getCurrentThreadId()! });
  const quick = await h.createSession({ threadId: children.find(({ title }) => title === "quick: a")!.id });
  last.open();
  await storage.reached;
  await quick.sendMessage({ content: "More" });
  const ended = storage.next("agent_end");
  open();
  await Promise.race([ended, again]);
  storage.letGo();
  assert.equal((await turn).reason, "budget");
  assert.equal(busy.requests.length, 1);
  assert.match(outcomes(h)[1]!, /reached its budget \(330 of 300 tokens/);
  assert.equal(h.getTokenUsage().inputTokens, 300);
  await h.close();
});

test("after a restart, a subagent counts before its thread is open", async () => {
  const data = new MemoryData();
  const { gate } = gated("pure");
  const lead = (tools: NonNullable<HarnessConfig["tools"]>, models: Record<"a" | "b", ReturnType<typeof script>>) => {
    const [a, b] = (["a", "b"] as const).map((name) => new Agent({ name, model: models[name], tools }));
    const both = call(["task", { agent: "a", prompt: "a" }, "a"], ["task", { agent: "b", prompt: "b" }, "b"]);
    return new Agent({ name: "lead", model: script(both), subagents: [a!, b!], budget: { tokens: 440 } });
  };
  const dead = new HoldingStore(data);
  const models = { a: script(call("note", { what: "x" }), call("gate")), b: script(call("gate")) };
  const first = new Harness({
    id: "t",
    agent: lead({ gate, note: noting().note }, models),
    storage: dead,
    permissions,
  });
  first.sendMessage({ content: "go" }).catch(() => undefined);
  const isOver = () => [...data.threads.values()].flatMap(({ journal }) => journal).filter(isStartOfGate).length === 2;
  const isStartOfGate = ({ json }: { json: string }) => /"tool_start".*"gate"/.test(json);
  while (!isOver()) await new Promise((resolve) => setTimeout(resolve, 5));
  const threadId = first.getCurrentThreadId()!;
  dead.die();

  const storage = new HoldingStore(data);
  const [a] = (await dead.threads({ parentId: threadId })).filter(({ title }) => title === "a: a");
  storage.isHeld = (id) => id === a!.id;
  const { gate: opened, open } = gated("pure");
  open();
  const { model: busy, again } = stopping("gate");
  const agent = lead({ gate: opened, note: noting().note }, { a: script(), b: busy });
  const h = new Harness({ id: "t", agent, storage, permissions });
  const ended = storage.next("agent_end");
  await h.switchThread({ threadId });
  await Promise.race([ended, again]);
  storage.letGo();
  await h.settled();
  assert.equal(busy.requests.length, 0);
  assert.match(outcomes(h)[1]!, /reached its budget \(440 of 440 tokens/);
  await Promise.all([h.close(), first.close().catch(() => undefined)]);
});

/** A lead that starts a subagent in the background and ends its turn, and then does what it is asked. */
function outlived({ budget, steps }: { budget: Budget; steps: number }) {
  const { note } = noting();
  const worker = scriptedBy(({ prompt }) => {
    const answers = prompt.filter(({ role }) => role === "assistant").length;
    return answers < steps ? call("note", { what: "x" }) : hang();
  });
  const busy = new Agent({ name: "busy", model: worker, tools: { note } });
  const model = script(
    call("task", { agent: "busy", prompt: "a", background: true }),
    say("Started."),
    ...["1", "2", "3"].map((what) => call("note", { what })),
    say("Noted."),
  );
  const lead = { name: "lead", model, tools: { note }, subagents: [busy], subagentBackground: { wake: false } };
  return { h: new Harness({ id: "t", agent: new Agent({ ...lead, budget }), permissions }), worker };
}

for (const [what, budget] of Object.entries({ turn: { tokens: 300 }, thread: { thread: { tokens: 300 } } }))
  test(`a subagent in the background stops at the limit of the ${what} that started it, also after the turn has ended`, async () => {
    const { h, worker } = outlived({ budget, steps: 9 });
    assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
    await h.settled();
    assert.equal(worker.requests.length, 1);
    const [child] = Object.values(h.getDisplayState().activeSubagents);
    assert.equal(child!.status, "budget");
    await h.close();
  });

test("a run counts for the turn that started it, and not for the next one", async () => {
  const { h, worker } = outlived({ budget: { tokens: 340 }, steps: 1 });
  await h.sendMessage({ content: "go" });
  while (worker.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal((await h.sendMessage({ content: "Note it" })).reason, "complete");
  await h.close();
});

test("what a subagent used that ended after its turn counts for the one that still works for that turn", async () => {
  const storage = new HoldingStore();
  const { gate, started, open } = gated();
  const { model: busy } = stopping("gate");
  const answer = heldBack(say("done"));
  const quick = new Agent({ name: "quick", model: script(answer.step), tools: {} });
  const slow = new Agent({ name: "slow", model: busy, tools: { gate } });
  const start = (agent: string): [string, object, string] => ["task", { agent, prompt: "a", background: true }, agent];
  const model = script(call(start("slow"), start("quick")), say("Started."));
  const delegation = { subagents: [quick, slow], subagentBackground: { wake: false } };
  const lead = new Agent({ name: "lead", model, ...delegation, budget: { tokens: 400 } });
  const h = new Harness({ id: "t", agent: lead, storage, permissions });
  await h.sendMessage({ content: "go" });
  await Promise.all([started, answer.asked]);
  const recorded = storage.next("subagent_end");
  answer.open();
  await recorded;
  open();
  await h.settled();
  assert.equal(busy.requests.length, 1);
  await h.close();
});

/** A process that gets no notices of what the others append. */
class DeafStore extends MemoryStore {
  override follow(): () => void {
    return () => undefined;
  }
}

test("what other processes have appended counts before this one has followed it", async () => {
  const data = new MemoryData();
  const worker = script(say("done"), say("more"));
  const model = script(call("task", { agent: "worker", prompt: "a" }), say("1"), say("2"));
  const make = (storage: MemoryStore) => {
    const subagents = [new Agent({ name: "worker", model: worker, tools: {} })];
    const agent = new Agent({ name: "lead", model, subagents, budget: { thread: { tokens: 400 } } });
    return new Harness({ id: "t", agent, storage, permissions });
  };
  const [a, b] = [make(new MemoryStore(data)), make(new DeafStore(data))];
  await a.sendMessage({ content: "go" });
  const threadId = a.getCurrentThreadId()!;
  await b.switchThread({ threadId });
  const [child] = await b.listThreads({ parentId: threadId });
  const below = await b.createSession({ threadId: child!.id });
  await a.sendMessage({ content: "again" });
  assert.equal((await below.sendMessage({ content: "more" })).reason, "budget");
  await Promise.all([a.close(), b.close()]);
});

test("what a subagent used counts after its thread is deleted", async () => {
  const worker = script(call("note", { what: "x" }), hang());
  const busy = new Agent({ name: "busy", model: worker, tools: { note: noting().note } });
  const model = script(call("task", { agent: "busy", prompt: "a" }), say("I see."));
  const h = new Harness({ id: "t", agent: new Agent({ name: "lead", model, subagents: [busy] }), permissions });
  const turn = h.sendMessage({ content: "go" });
  while (worker.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  const [child] = await h.listThreads({ parentId: h.getCurrentThreadId()! });
  await h.deleteThread({ threadId: child!.id });
  await turn;
  assert.match(outcomes(h)[0]!, /its thread was deleted/);
  assert.equal(h.getTokenUsage().inputTokens, 300);
  await h.close();
});

test("a person who rewinds the thread of a subagent reverts neither the report of its run nor what it used", async () => {
  const data = new MemoryData();
  const dead = new HoldingStore(data);
  dead.isHeld = isEnd;
  const config = () => {
    const quick = new Agent({ name: "quick", model: script(say("done")), tools: {} });
    const model = script(call("task", { agent: "quick", prompt: "a" }), say("I see."));
    return { id: "t", agent: new Agent({ name: "lead", model, subagents: [quick] }) };
  };
  const first = new Harness({ ...config(), storage: dead });
  first.sendMessage({ content: "go" }).catch(() => undefined);
  await dead.reached;
  const threadId = first.getCurrentThreadId()!;
  const [child] = await dead.threads({ parentId: threadId });
  dead.die();

  const h = new Harness({ ...config(), storage: new MemoryStore(data) });
  const session = await h.createSession({ threadId: child!.id });
  await session.rewind({ toSeq: 1 });
  await h.switchThread({ threadId });
  await h.settled();
  assert.deepEqual(outcomes(h), ["<task_result>\ndone\n</task_result>"]);
  assert.equal(h.getTokenUsage().inputTokens, 300);
  await Promise.all([h.close(), first.close().catch(() => undefined)]);
});

test("a rewind to before the end of a run keeps its report and what it used, also if its thread is gone", async () => {
  const quick = new Agent({ name: "quick", model: script(say("done")), tools: {} });
  const model = script(call("task", { agent: "quick", prompt: "a", background: true }), say("Started."), say("I see."));
  const lead = new Agent({ name: "lead", model, subagents: [quick], subagentBackground: true });
  const storage = new HoldingStore();
  const h = new Harness({ id: "t", agent: lead, storage });
  await h.sendMessage({ content: "go" });
  await h.settled();
  const threadId = h.getCurrentThreadId()!;
  const events = () => storage.read(threadId);
  const start = (await events()).find(({ type }) => type === "background_started")!;
  const [end] = (await events()).filter(({ type }) => type === "subagent_end");
  const [child] = await h.listThreads({ parentId: threadId });
  await h.deleteThread({ threadId: child!.id });
  const { inputTokens } = h.getTokenUsage();
  await h.rewind({ toSeq: start.seq });
  await h.settled();
  assert.equal(h.getTokenUsage().inputTokens, inputTokens + 100, "and the answer to the note");
  const ends = (await events()).filter(({ type }) => type === "subagent_end");
  const fixed = { seq: 0, at: 0 };
  assert.deepEqual(
    ends.map((one) => ({ ...one, ...fixed })),
    [{ ...end, ...fixed }],
  );
  const notes = h.getDisplayState().messages.filter(({ role }) => role === "note");
  assert.equal(notes.length, 1);
  await h.close();
});

test("a limit in dollars needs the prices of the models below it", async () => {
  const worker = { ...script(say("one")), modelId: "unpriced" };
  const agent = new Agent({
    name: "lead",
    model: script(call("task", { agent: "worker", prompt: "a" }), say("I see.")),
    subagents: [new Agent({ name: "worker", model: worker, tools: {} })],
    budget: { cost: 1 },
  });
  const h = new Harness({ id: "t", agent, prices: { "scripted/script": { input: 1, output: 1 } } });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  assert.equal(worker.requests.length, 0);
  assert.match(outcomes(h)[0]!, /The subagent failed/);
  await h.close();
});
