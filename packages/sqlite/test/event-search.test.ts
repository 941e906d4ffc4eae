import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import * as fc from "fast-check";
import { memoryStore, type EventQuery, type Store } from "@cinch/core";
import type { AppendOptions, StampedEvent } from "@cinch/core/store";
import { created, event, says } from "./events.ts";
import { Place } from "./place.ts";

const result = (content: string) =>
  event("tool_end", { toolCallId: "c", toolName: "t", result: { content }, isError: false, durationMs: 1 });

const indexState = (place: Place) =>
  place.query((db) => ({
    ...db.prepare("SELECT (SELECT count(*) FROM dirty) AS dirty, (SELECT count(*) FROM search_docsize) AS found").get(),
  }));

async function indexed(place: Place): Promise<void> {
  for (const end = Date.now() + 50_000; indexState(place)["dirty"] !== 0 && Date.now() < end;) await pause(20);
}

describe("events in a SQLite store", { concurrency: 4, timeout: 600_000 }, () => {
  test("they are found although the index cannot be updated", async () => {
    await using place = new Place();
    const store = await place.store({ indexMs: 100_000 });
    const blobs = [{ hash: "h", bytes: new TextEncoder().encode("giraffe") }];
    const offloaded = event("context_offloaded" as "tool_end", { path: "/x", blob: "h", chars: 7 });
    await store.append("t", [created(), says("zebra"), result("zebra".padStart(300_000)), offloaded], {
      afterSeq: 0,
      take: 0,
      blobs,
    });
    const unlock = place.lock();
    try {
      const find = async (query: string) => (await store.findEvents({ threadId: "t", query })).map(({ seq }) => seq);
      assert.deepEqual([await find("zebra"), await find("GIRAFFE"), await find("zebra lion")], [[3, 2], [4], []]);
      assert.deepEqual(await store.findEvents({ resourceId: "me", query: "zeb", limit: 1 }), [
        { threadId: "t", seq: 3 },
      ]);
      assert.deepEqual(indexState(place), { dirty: 1, found: 0 });
    } finally {
      unlock();
    }
  });

  test("a text that takes several slices of time is indexed whole, once", async () => {
    await using place = new Place();
    const store = await place.store({ indexMs: 10 });
    const words = Array.from({ length: 200_000 }, (_, at) => `w${at}`).join(" ");
    const blobs = [{ hash: "h", bytes: new TextEncoder().encode(`first ${words} last`) }];
    const offloaded = event("context_offloaded" as "tool_end", { path: "/x", blob: "h", chars: 7 });
    const events = [created(), says("first"), result(`first ${words} last`), offloaded];
    await store.append("t", events, { afterSeq: 0, take: 0, release: true, blobs });
    await indexed(place);
    assert.deepEqual(indexState(place), { dirty: 0, found: 3 });
    const query = { threadId: "t", query: "first w150000 last w0 w199999" };
    assert.deepEqual(await store.findEvents(query), [
      { threadId: "t", seq: 4 },
      { threadId: "t", seq: 3 },
    ]);
  });

  test("an event that is deleted while its words are collected leaves no words in the index", async () => {
    await using place = new Place();
    const store = await place.store({ indexMs: 1 });
    const words = Array.from({ length: 500_000 }, (_, at) => `w${at}`).join(" ");
    await store.append("p", [created(), says("zebra"), result(words)], { afterSeq: 0, take: 0, release: true });
    const parent = { threadId: "p", seq: 2 };
    await store.append("c", [event("thread_cloned", { title: "c", parent, rules: [], state: {} })], { afterSeq: 2 });
    await pause(40);
    await store.deleteThread("p");
    await indexed(place);
    assert.deepEqual(indexState(place), { dirty: 0, found: 1 });
    assert.deepEqual(await store.findEvents({ threadId: "c", query: "zebra" }), [{ threadId: "c", seq: 2 }]);
  });

  test("the index is updated under steady load", async () => {
    await using place = new Place();
    const store = await place.store({ indexMs: 1000 });
    await store.append("t", [created()], { afterSeq: 0 });
    const writeOne = (afterSeq: number) =>
      store.append("t", [says("zebra")], { afterSeq, take: afterSeq - 1, release: true });
    let seq = 1;
    for (const end = Date.now() + 30_000; indexState(place)["found"] === 0 && Date.now() < end; await pause(20))
      await writeOne(seq++);
    assert.notEqual(indexState(place)["found"], 0);
  });

  test("a store that is closed during a search rejects it with CLOSED", async () => {
    await using place = new Place();
    const store = await place.store();
    const said = Array.from({ length: 500 }, (_, at) => says(`zebra ${at}`));
    await store.append("t", [created(), ...said], { afterSeq: 0, take: 0, release: true });
    const search = store.findEvents({ threadId: "t", query: "zebra", limit: 1000 });
    const [outcome] = await Promise.allSettled([search, store.close()]);
    if (outcome.status === "rejected") assert.equal((outcome.reason as { code: string }).code, "CLOSED");
    else assert.equal(outcome.value.length, 500);
    await assert.rejects(store.findEvents({ threadId: "t", query: "zebra" }), { code: "CLOSED" });
  });
});

const WORDS = ["zebra", "zebras", "okapi", "lion", "Löwe", "東京"];
const QUERIES = ["zebra", "zebras okapi", "l", "lowe", "東", "okapi lion zebra"];

type Step =
  | { kind: "say"; thread: number; words: string[] }
  | { kind: "clone"; thread: number; at: number }
  | { kind: "rewind"; thread: number; to: number }
  | { kind: "delete"; thread: number }
  | { kind: "index" };

const thread = fc.nat(9);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("say" as const),
      thread,
      words: fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("clone" as const), thread, at: fc.nat(30) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("rewind" as const), thread, to: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), thread }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("index" as const) }) },
);

/** Performs the same calls on two stores. */
class Twins {
  readonly threads: string[] = [];
  readonly #stores: readonly Store[];
  readonly #run: number;

  constructor(stores: readonly Store[], run: number) {
    this.#stores = stores;
    this.#run = run;
  }

  get resourceId(): string {
    return `me${this.#run}`;
  }

  async perform(one: Step): Promise<void> {
    const id = "thread" in one ? this.threads[one.thread % Math.max(1, this.threads.length)] : undefined;
    if (one.kind === "index") {
      await this.#stores[1]!.findEvents({ threadId: "nowhere", query: "zebra" }).catch(() => []);
      return;
    }
    if (id === undefined || this.threads.length < 2) return this.#create();
    const last = (await this.#stores[0]!.read(id)).at(-1)!.seq;
    if (one.kind === "say") return this.#append(id, [says(one.words.join(" "))], last);
    if (one.kind === "rewind") {
      const fields = { toSeq: 1 + (one.to % last), files: false, rules: [], grants: [] };
      // A rewind to the newest event is none.
      return fields.toSeq === last ? undefined : this.#append(id, [event("thread_rewound", fields)], last);
    }
    if (one.kind === "clone") {
      const parent = { threadId: id, seq: 1 + (one.at % last) };
      return this.#add([event("thread_cloned", { title: "c", parent, rules: [], state: {} })], parent.seq);
    }
    this.threads.splice(this.threads.indexOf(id), 1);
    for (const store of this.#stores) await store.deleteThread(id);
  }

  #create(): Promise<void> {
    return this.#add([event("thread_created", { title: "t", resourceId: this.resourceId })], 0);
  }

  async #add(events: StampedEvent[], afterSeq: number): Promise<void> {
    const id = `${this.#run}-${events[0]!.at}`;
    await this.#both(id, events, { afterSeq });
    this.threads.push(id);
  }

  async #append(id: string, events: StampedEvent[], afterSeq: number): Promise<void> {
    const { epoch } = await this.#stores[0]!.lease(id);
    await this.#both(id, events, { afterSeq, take: epoch, release: true });
  }

  async #both(id: string, events: StampedEvent[], options: AppendOptions): Promise<void> {
    for (const store of this.#stores) assert.equal((await store.append(id, events, options)).kind, "appended");
  }
}

test("SQLite finds the same events as a store without an index, however far its index lags", async () => {
  await using place = new Place();
  const sqlite = await place.store({ indexMs: 100_000 });
  const memory = memoryStore();
  await memory.open();
  let runs = 0;
  const answers = (store: Store, queries: EventQuery[]) => Promise.all(queries.map((query) => store.findEvents(query)));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), fc.nat(20), async (steps, number) => {
      const twins = new Twins([memory, sqlite], ++runs);
      for (const one of steps) await twins.perform(one);
      const { resourceId } = twins;
      const queries = QUERIES.flatMap((query): EventQuery[] => [
        { resourceId, query },
        { resourceId, query, limit: number },
        ...twins.threads.flatMap((threadId) => [
          { threadId, query },
          { threadId, query, limit: 1 + (number % 3), before: number },
        ]),
      ]);
      const expected = await answers(memory, queries);
      const unlock = place.lock();
      try {
        assert.deepEqual(await answers(sqlite, queries), expected);
      } finally {
        unlock();
      }
      assert.deepEqual(await answers(sqlite, queries), expected);
    }),
    { numRuns: 25 },
  );
});
