import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Harness, Placement } from "@cinch/core";
import { graphilePlacement } from "@cinch/postgres";
import { restatePlacement } from "@cinch/restate";
import { copiedThreads } from "../../postgres/test/copied-threads.ts";
import { Place } from "../../postgres/test/place.ts";
import { serverUrl } from "../../postgres/test/server.ts";
import { until } from "../../postgres/test/until.ts";
import { TestEngine } from "./engine.ts";
import { LocalTeam } from "./local-team.ts";
import type { WalkerOptions, WalkerProcess, WalkerUse } from "./walker-process.ts";

const ANSWERED = 100;
/** Of the five processes, each with as many as its store and its placement may have. */
const MOST_CONNECTIONS = 50;
/** Less than a hundredth of what ten thousand would be as open threads. */
const HEAP_BYTES = 3_000_000;

/** Two workers and two fronts in processes of their own, and a thread that waits for an approval. */
class WaitingTeam implements AsyncDisposable {
  readonly team: LocalTeam;
  readonly workers: WalkerProcess[] = [];
  readonly fronts: WalkerProcess[] = [];
  readonly #place: Place;
  readonly #engines: TestEngine;
  readonly #engine: WalkerOptions["engine"];

  private constructor(place: Place, engines: TestEngine, name: "restate" | "graphile") {
    this.#place = place;
    this.#engines = engines;
    this.#engine = name === "restate" ? engines.options : name;
    this.team = new LocalTeam(place);
  }

  static async start(name: "restate" | "graphile"): Promise<WaitingTeam> {
    const url = new URL(await serverUrl());
    // So its connections can be told from those of other tests.
    url.searchParams.set("application_name", `waiting-${name}-${process.pid}`);
    const made = new WaitingTeam(await Place.make({ url: url.href }), await TestEngine.make(), name);
    const engine = made.#engine;
    const pairs = ["a", "b"].map(async (by) => {
      made.workers.push((await made.team.process(by, { engine })).walker);
      made.fronts.push((await made.team.process(`front ${by}`, { engine, role: "front" })).walker);
    });
    await Promise.all(pairs);
    return made;
  }

  async front(): Promise<Harness> {
    const engine = this.#engine;
    const placement: Placement = engine === "graphile" ? graphilePlacement() : restatePlacement(engine);
    return this.team.harness("front", { url: this.#place.url, placement });
  }

  /** As if as many people had been asked. */
  copies(threadId: string, count: number): Promise<string[]> {
    return copiedThreads(this.#place, threadId, count);
  }

  async connections(): Promise<number> {
    const name = new URL(this.#place.url).searchParams.get("application_name");
    return this.#count("SELECT count(*) FROM pg_stat_activity WHERE application_name = $1", [name]);
  }

  /** Threads that wait for a person, and have not changed since they were copied. */
  waiting(threadId: string): Promise<number> {
    const same =
      "last_seq = (SELECT last_seq FROM cinch.heads WHERE thread = (SELECT no FROM cinch.threads WHERE id = $1))";
    return this.#count(`SELECT count(*) FROM cinch.heads WHERE asking AND NOT awake AND holder IS NULL AND ${same}`, [
      threadId,
    ]);
  }

  /** What the engine has of threads. */
  async jobs(): Promise<number> {
    if (this.#engine === "graphile") return this.#count(`SELECT count(*) FROM "${this.#place.schema}_wakes".jobs`);
    return this.#engines.invocations();
  }

  async use(): Promise<WalkerUse[]> {
    const reports = await Promise.all(this.workers.map((worker) => worker.ask({ order: "use" })));
    return reports.flatMap((report) => ("use" in report ? [report.use] : []));
  }

  /** The fewest timers that each worker had in a moment: some of them are gone soon, as those of a request. */
  async fewestTimers(): Promise<number[]> {
    const looks: number[][] = [];
    for (; looks.length < 5; await pause(50)) looks.push((await this.use()).map(({ timers }) => timers));
    return this.workers.map((_, nth) => Math.min(...looks.map((timers) => timers[nth]!)));
  }

  async #count(text: string, values: unknown[] = []): Promise<number> {
    const [row] = await this.#place.query(text, values);
    return Number(row!["count"]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.team[Symbol.asyncDispose]();
    await this.#engines[Symbol.asyncDispose]();
  }
}

/** Threads that wait cost workers nothing, and those that are answered at once by two fronts all go on. */
export function testWaiting(engine: "restate" | "graphile", { count }: { count: number }): void {
  const name = `${count} threads that wait cost workers nothing, and ${ANSWERED} that are answered at once by two fronts all go on (${engine})`;
  test(name, async (t) => {
    await using at = await WaitingTeam.start(engine);
    const { team, fronts } = at;
    const front = await at.front();
    const { id: threadId } = await front.createThread();
    await front.post({ content: "Ask.", delivery: "send" });
    await until("the question", () => front.getDisplayState().status === "waiting");
    await until("no thread is driven", async () => (await front.metrics()).drivenByAll === 0);
    await until("no job", async () => (await at.jobs()) === 0);
    const before = await at.use();
    const timersBefore = await at.fewestTimers();

    const ids = await at.copies(threadId, count);
    // For several looks of each worker.
    await pause(2_500);
    const { awake, drivenByAll } = await front.metrics();
    assert.deepEqual([awake, drivenByAll, await at.jobs()], [0, 0, 0]);
    assert.ok((await at.connections()) <= MOST_CONNECTIONS, "no connection for a thread");
    const timersAfter = await at.fewestTimers();
    for (const [nth, { heapBytes }] of (await at.use()).entries()) {
      const grown = heapBytes - before[nth]!.heapBytes;
      const [timersThen, timers] = [timersBefore[nth]!, timersAfter[nth]!];
      t.diagnostic(`heap ${grown} bytes more, ${timers} timers`);
      assert.ok(grown < HEAP_BYTES, `${grown} bytes more`);
      assert.ok(timers <= timersThen + 1, `${timers} timers, and ${timersThen} before`);
    }

    const answered = ids.filter((_, nth) => nth % (count / ANSWERED) === 0);
    const halves = fronts.map((_, half) => answered.filter((_id, nth) => nth % fronts.length === half));
    const given = performance.now();
    const reports = await Promise.all(
      fronts.map((one, half) => one.ask({ order: "approve", threadIds: halves[half]! })),
    );
    t.diagnostic(`${ANSWERED} answers and their turns: ${Math.round(performance.now() - given)} ms`);
    const statuses = reports.flatMap((report) => ("statuses" in report ? report.statuses : []));
    assert.deepEqual(
      statuses,
      answered.map(() => "idle"),
    );
    for (const id of answered) {
      const ends = (await team.assertOnce(id)).filter((event) => event.type === "agent_end");
      assert.deepEqual(
        ends.map(({ reason }) => reason),
        ["complete"],
      );
    }
    assert.equal(team.ran.length, ANSWERED);

    await until("no thread is driven", async () => {
      const load = await front.metrics();
      return load.awake === 0 && load.drivenByAll === 0;
    });
    await until("no job is left", async () => (await at.jobs()) === 0);
    assert.equal(await at.waiting(threadId), count - ANSWERED + 1, "the others wait");
  });
}
