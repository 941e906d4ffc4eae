import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { DurableEvent, Harness, Memory, Store } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import type { ScriptedModel } from "@cinch/testkit";
import { observationalMemory } from "@cinch/memory";
import { answer, look, lookAfter, MemoryJobs, resultsIn, simulated, stepsOf, worker } from "./simulation.ts";

const memory = observationalMemory({ messageTokens: 2_000, observationTokens: 40_000, scope: "resource" });

/** Observations are so long that a reflection is shorter. */
const FACTS = "A fact. ".repeat(15);

/**
 * An agent that looks `todo` times in each turn, with a new number each time, and an observer that says which results it saw. Each step
 * waits for the observer: a turn could end before it.
 */
class Looker {
  todo = 0;
  #jobs: MemoryJobs | undefined;
  #at = 0;
  readonly model: ScriptedModel;

  constructor() {
    this.model = worker(0, {
      observer: ({ prompt }) => answer(`- Saw ${resultsOf(JSON.stringify(prompt.at(-1))).join(" ")}. ${FACTS}`),
      reflector: ({ prompt }) => answer(`- Saw ${[...sawOf(JSON.stringify(prompt.at(-1)))].join(" ")}.`),
      agent: () => {
        if (this.todo <= 0) return undefined;
        this.todo--;
        const at = ++this.#at;
        const step = answer("I look.", { name: "look", input: { at }, id: `call-${at}` });
        const jobs = this.#jobs;
        return async function* (options) {
          await jobs?.ended();
          yield* step(options);
        };
      },
    });
  }

  async look(harness: Harness, times: number): Promise<void> {
    this.todo = times;
    using jobs = new MemoryJobs(harness);
    this.#jobs = jobs;
    assert.equal((await harness.sendMessage({ content: "Look." })).reason, "complete");
  }
}

const resultsOf = (text: string): string[] => Array.from(text.matchAll(/Result (\d+): /g), ([, at]) => at!);

/** The results that a new conversation learns of from the others. */
const learned = async (harness: Harness, model: ScriptedModel): Promise<Set<number>> =>
  sawOf(await newHead(harness, model));

async function newHead(harness: Harness, model: ScriptedModel): Promise<string> {
  const before = harness.getCurrentThreadId();
  const { id } = await harness.createThread({});
  await harness.sendMessage({ content: "Hello." });
  const [head] = stepsOf(model).at(-1)!.prompt;
  if (before !== null) await harness.switchThread({ threadId: before });
  await harness.deleteThread({ threadId: id });
  return head?.role === "system" ? head.content : "";
}

const sawOf = (text: string): Set<number> =>
  new Set(Array.from(text.matchAll(/Saw ([\d ]+)\./g), ([, list]) => list!.split(" ").map(Number)).flat());

const has = (event: DurableEvent, step: number): boolean => resultsIn([event]).some((result) => result.step === step);

/** Of a thread: the results that are in force, and those of them that activated observations are about. */
async function journalOf(store: Store, threadId: string): Promise<{ results: Set<number>; observed: Set<number> }> {
  const events = await store.read(threadId);
  const results = resultsIn(events);
  const activeSeq = events.findLast((event) => event.type === "om_activation")?.range[1] ?? 0;
  const ranges = events.flatMap((event) =>
    event.type === "om_observation_end" && event.blob !== undefined && event.range[1] <= activeSeq ? [event.range] : [],
  );
  const isObserved = (seq: number) => ranges.some(([from, to]) => from <= seq && seq <= to);
  return {
    results: new Set(results.map(({ step }) => step)),
    observed: new Set(results.flatMap(({ step, seq }) => (isObserved(seq) ? [step] : []))),
  };
}

/** The `seq` of the result with this number. */
async function seqOf(store: Store, threadId: string, step: number): Promise<number> {
  const event = (await store.read(threadId)).find((one) => has(one, step));
  return event!.seq;
}

async function started({
  store = new MemoryStore(new MemoryData()),
  ...options
}: { memory?: Memory; store?: Store } = {}) {
  const looker = new Looker();
  const simulation = await simulated(looker.model, { memory, storage: store, ...options });
  const { harness } = simulation;
  await harness.createThread({});
  return { ...simulation, store, looker, model: looker.model, threadId: harness.getCurrentThreadId()! };
}

test("a rewind reverts what other conversations would have learned of the reverted messages", async () => {
  await using s = await started();
  await s.looker.look(s.harness, 20);
  const before = await learned(s.harness, s.model);
  const toSeq = await seqOf(s.store, s.threadId, 8);
  assert.ok(before.has(1) && before.has(12), [...before].join());
  await s.harness.rewind({ toSeq });
  const after = await learned(s.harness, s.model);
  assert.ok(after.has(1), "what stays is still known");
  assert.deepEqual(
    [...after].filter((step) => step > 8),
    [],
  );
  await s.harness.rewind({ toSeq: 2 });
  assert.deepEqual(await learned(s.harness, s.model), new Set());
});

test("an observation stays known when a rewind reverts it, but none of its messages", async () => {
  await using s = await started();
  await s.looker.look(s.harness, 20);
  const first = (await s.store.read(s.threadId)).find((event) => event.type === "om_observation_end")!;
  assert.ok(first.type === "om_observation_end" && first.seq > first.range[1]);
  await s.harness.rewind({ toSeq: first.range[1] });
  const { results, observed } = await journalOf(s.store, s.threadId);
  assert.deepEqual([observed.size, await learned(s.harness, s.model)], [0, results]);
  await s.harness.rewind({ toSeq: first.range[1] - 1 });
  assert.deepEqual(await learned(s.harness, s.model), new Set());
});

test("what is observed after a rewind is shared, also with the same words", async () => {
  const store = new MemoryStore(new MemoryData());
  const model = worker(20, { observer: () => answer("- Saw 7.") });
  let jobs: MemoryJobs | undefined;
  const tools = { look: lookAfter(() => jobs) };
  await using simulation = await simulated(model, { memory, storage: store, tools });
  const { harness } = simulation;
  using first = new MemoryJobs(harness);
  jobs = first;
  await harness.sendMessage({ content: "Look." });
  await harness.rewind({ toSeq: 2 });
  assert.deepEqual(await learned(harness, model), new Set());
  let todo = 20;
  const again = worker(0, {
    observer: () => answer("- Saw 7."),
    agent: (_, at) => (todo-- > 0 ? answer("I look.", { name: "look", input: { at }, id: `c${todo}` }) : undefined),
  });
  await using other = await simulated(again, { memory, storage: store, tools });
  await other.harness.switchThread({ threadId: harness.getCurrentThreadId()! });
  using second = new MemoryJobs(other.harness);
  jobs = second;
  await other.harness.sendMessage({ content: "Look again." });
  assert.deepEqual(await learned(other.harness, again), new Set([7]));
});

test("after a rewind, each observation is shared once", async () => {
  await using s = await started();
  await s.looker.look(s.harness, 20);
  await s.harness.rewind({ toSeq: await seqOf(s.store, s.threadId, 8) });
  await s.looker.look(s.harness, 20);
  const { observed } = await journalOf(s.store, s.threadId);
  assert.deepEqual(observed.difference(await learned(s.harness, s.model)), new Set());
  const shared = (await s.store.read("memory:default")).flatMap((event) =>
    event.type === "om_observation_end" ? [event.range[1]] : [],
  );
  assert.equal(new Set(shared).size, shared.length);
});

test("a process that opens the store after a crash shows nothing that was rewound: the rewind is one event", async () => {
  class Dying extends MemoryStore {
    override async append(...args: Parameters<MemoryStore["append"]>) {
      const result = await super.append(...args);
      if (args[1].some(({ type }) => type === "thread_rewound")) this.die();
      return result;
    }
  }
  const data = new MemoryData();
  const looker = new Looker();
  const first = await simulated(looker.model, { memory, storage: new Dying(data) });
  await looker.look(first.harness, 20);
  const rewinding = first.harness.rewind({ toSeq: 2 });
  await rewinding.catch(() => undefined);
  await using second = await simulated(looker.model, { memory, storage: new MemoryStore(data) });
  assert.deepEqual(await learned(second.harness, looker.model), new Set());
  await first.harness.close().catch(() => undefined);
});

test("two threads that contribute at once lose nothing, and a rewind of one reverts only its own", async () => {
  await using s = await started();
  const other = await s.harness.createSession({});
  const second = await other.createThread({});
  s.looker.todo = 40;
  await Promise.all([s.harness.sendMessage({ content: "Look." }), other.sendMessage({ content: "Look." })]);
  const [one, two] = [await journalOf(s.store, s.threadId), await journalOf(s.store, second.id)];
  assert.ok(one.observed.size > 0 && two.observed.size > 0);
  assert.deepEqual(one.observed.union(two.observed).difference(await learned(s.harness, s.model)), new Set());
  await s.harness.rewind({ toSeq: 2 });
  assert.deepEqual(await learned(s.harness, s.model), two.observed);
});

for (const way of ["rewound", "deleted"] as const)
  test(`a clone keeps what its source observed before the source is ${way}`, async () => {
    await using s = await started();
    await s.looker.look(s.harness, 20);
    const { observed } = await journalOf(s.store, s.threadId);
    const { id } = await s.harness.cloneThread({});
    if (way === "deleted") await s.harness.deleteThread({ threadId: s.threadId });
    else {
      await s.harness.switchThread({ threadId: s.threadId });
      await s.harness.rewind({ toSeq: 2 });
    }
    assert.deepEqual(await learned(s.harness, s.model), observed);
    await s.harness.deleteThread({ threadId: id });
    assert.deepEqual(await learned(s.harness, s.model), new Set());
  });

test("a thread keeps what its clone shared first when the clone is deleted", async () => {
  await using s = await started();
  // Observed, and not activated yet.
  await s.looker.look(s.harness, 5);
  await s.harness.cloneThread({});
  const clone = s.harness.getCurrentThreadId()!;
  await s.looker.look(s.harness, 6);
  await s.harness.switchThread({ threadId: s.threadId });
  await s.looker.look(s.harness, 6);
  const said = (await newHead(s.harness, s.model)).match(/Saw 1[ .]/g);
  assert.equal(said?.length, 1, "what both have is said once");
  await s.harness.deleteThread({ threadId: clone });
  const { observed } = await journalOf(s.store, s.threadId);
  assert.ok(observed.size > 0);
  assert.deepEqual(await learned(s.harness, s.model), observed);
});

test("the head of a clone does not say again what it inherited", async () => {
  await using s = await started();
  await s.looker.look(s.harness, 20);
  const { id } = await s.harness.cloneThread({});
  // A process with other tools makes a new head.
  await using other = await simulated(s.model, { memory, storage: s.store, tools: { look, glance: look } });
  await other.harness.switchThread({ threadId: id });
  await other.harness.sendMessage({ content: "Hello." });
  const [head] = stepsOf(s.model).at(-1)!.prompt;
  assert.ok(head?.role === "system");
  assert.deepEqual(sawOf(head.content), new Set());
});

test("an observation that could not be shared is shared at the next activation, although a reflection replaces it then", async () => {
  class Broken extends MemoryStore {
    #isBroken = true;

    override async append(...args: Parameters<MemoryStore["append"]>) {
      if (this.#isBroken && args[0].startsWith("memory:") && args[1][0]?.type === "om_observation_end")
        throw new Error("out of order");
      if (args[1].some(({ type }) => type === "om_reflection_end")) this.#isBroken = false;
      return super.append(...args);
    }
  }
  const small = observationalMemory({ messageTokens: 1_000, observationTokens: 1_000, scope: "resource" });
  await using s = await started({ memory: small, store: new Broken(new MemoryData()) });
  await s.looker.look(s.harness, 80);
  const { observed } = await journalOf(s.store, s.threadId);
  assert.ok((await s.store.read(s.threadId)).some((event) => event.type === "om_activation" && event.reflected));
  assert.deepEqual(observed.difference(await learned(s.harness, s.model)), new Set());
});

test("a rewind reverts what a reflection condensed with the rest, and the rest stays known", async () => {
  const small = observationalMemory({ messageTokens: 1_000, observationTokens: 1_000, scope: "resource" });
  await using s = await started({ memory: small });
  await s.looker.look(s.harness, 150);
  const journal = await s.store.read(s.threadId);
  assert.ok(journal.some((event) => event.type === "om_activation" && event.reflected));
  const reflection = journal.findLast((event) => event.type === "om_reflection_end")!;
  assert.ok(reflection.type === "om_reflection_end");
  const before = await learned(s.harness, s.model);
  await s.harness.rewind({ toSeq: Math.floor(reflection.range[1] / 2) });
  const { results, observed } = await journalOf(s.store, s.threadId);
  const known = await learned(s.harness, s.model);
  assert.deepEqual(known.difference(results), new Set());
  assert.deepEqual(observed.difference(known), new Set());
  assert.ok(observed.size > 0 && known.size < before.size);
});

type Operation =
  | { kind: "look"; times: number }
  | { kind: "rewind"; share: number }
  | { kind: "clone"; share: number }
  | { kind: "delete" }
  | { kind: "switch"; to: number };

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("look" as const), times: fc.integer({ min: 1, max: 12 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("rewind" as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("clone" as const), share: fc.double({ min: 0.4, max: 1, noNaN: true }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "delete" as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("switch" as const), to: fc.nat(5) }) },
);

test("whatever is looked at, rewound, cloned and deleted: what is shown is in force somewhere, and nothing else is lost", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 3, maxLength: 9 }), async (operations) => {
      await using s = await started();
      const { harness, store } = s;
      const threads = [s.threadId];
      /** The chain from a clone to its source is not known any more if a thread between them is deleted. */
      const sources = new Set<string>();
      await s.looker.look(harness, 10);
      for (const one of operations) {
        const current = harness.getCurrentThreadId()!;
        const seqs = (await store.read(current)).map(({ seq }) => seq);
        const seqAt = (share: number) => seqs.findLast((seq) => seq <= Math.max(2, Math.ceil(seqs.at(-1)! * share)))!;
        switch (one.kind) {
          case "look":
            await s.looker.look(harness, one.times);
            break;
          case "rewind":
            await harness.rewind({ toSeq: seqAt(one.share) });
            break;
          case "clone": {
            const { id } = await harness.cloneThread({ atSeq: seqAt(one.share) });
            sources.add(current);
            threads.push(id);
            break;
          }
          case "delete": {
            if (threads.length < 2 || (sources.has(current) && current !== s.threadId)) break;
            threads.splice(threads.indexOf(current), 1);
            await harness.switchThread({ threadId: threads[0]! });
            await harness.deleteThread({ threadId: current });
            break;
          }
          case "switch":
            await harness.switchThread({ threadId: threads[one.to % threads.length]! });
        }
        const known = await learned(harness, s.model);
        const journals = await Promise.all(threads.map((id) => journalOf(store, id)));
        const inForce = journals.reduce((all, { results }) => all.union(results), new Set<number>());
        const observed = journals.reduce((all, { observed: own }) => all.union(own), new Set<number>());
        assert.deepEqual(known.difference(inForce), new Set(), "nothing that was reverted is shown");
        assert.deepEqual(observed.difference(known), new Set(), "nothing that was not reverted is lost");
      }
    }),
    { numRuns: 20 },
  );
});
