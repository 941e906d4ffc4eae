import assert from "node:assert/strict";
import type { DurableEvent, Harness, HarnessConfig, Store } from "@cinch/core";
import { postgresStore } from "@cinch/postgres";
import { Place } from "../../postgres/test/place.ts";
import { until } from "../../postgres/test/until.ts";
import { walkerHarness, type Ran } from "./walker-harness.ts";
import { WalkerProcess, type WalkerOptions } from "./walker-process.ts";

/** Workers and fronts on one database, in this process and in others. */
export class LocalTeam implements AsyncDisposable {
  readonly place: Place;
  readonly ran: Ran[] = [];
  readonly #harnesses: Harness[] = [];
  readonly #processes: WalkerProcess[] = [];
  #store: Promise<Store> | undefined;

  constructor(place: Place) {
    this.place = place;
  }

  async harness(by: string, { url, ...config }: Partial<HarnessConfig> & { url: string }): Promise<Harness> {
    const storage = postgresStore({ url, schema: this.place.schema });
    const harness = walkerHarness({ by, ran: (run) => this.ran.push(run), storage, ...config });
    this.#harnesses.push(harness);
    await harness.init();
    return harness;
  }

  /** `served`: when it began to serve, by its clock. */
  async process(
    by: string,
    { engine, role = "worker" }: Pick<WalkerOptions, "engine"> & Partial<Pick<WalkerOptions, "role">>,
  ): Promise<{ walker: WalkerProcess; served: number }> {
    const store = this.place.options;
    const started = await WalkerProcess.start({ by, role, store, engine }, (run) => this.ran.push(run));
    this.#processes.push(started.walker);
    return started;
  }

  /** Settles when one of them has run a call. */
  async stepOf(by: string): Promise<void> {
    await until(`a step of ${by}`, () => this.ran.some((run) => run.by === by), 40_000);
  }

  /** No call ran twice, although two processes drove the thread, and each that was recorded ran. */
  async assertOnce(threadId: string): Promise<DurableEvent[]> {
    const { events, started } = await this.#assertRecorded(threadId);
    assert.deepEqual(new Set(started), new Set(this.#keysOf(threadId)));
    return events;
  }

  /** No call ran twice. A process that was killed may have recorded one that it did not run. */
  async assertNoneTwice(threadId: string): Promise<DurableEvent[]> {
    return (await this.#assertRecorded(threadId)).events;
  }

  async #assertRecorded(threadId: string): Promise<{ events: DurableEvent[]; started: string[] }> {
    this.#store ??= this.place.store();
    const events = await (await this.#store).read(threadId);
    const keys = this.#keysOf(threadId);
    assert.equal(new Set(keys).size, keys.length);
    const started = events.flatMap((event) => (event.type === "tool_start" ? [event.key] : []));
    const unrecorded = keys.filter((key) => !started.includes(key));
    assert.deepEqual(unrecorded, []);
    return { events, started };
  }

  /** Of the calls that ran. */
  #keysOf(threadId: string): string[] {
    return this.ran.map(({ key }) => key).filter((key) => key.startsWith(`${threadId}:`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#processes.map((one) => one.kill()));
    await Promise.all(this.#harnesses.map((harness) => harness.close({ drainMs: 0 })));
    await this.place[Symbol.asyncDispose]();
    await this.place.query(`DROP SCHEMA IF EXISTS "${this.place.schema}_wakes" CASCADE`);
  }
}

export const takeovers = (events: readonly DurableEvent[]): number =>
  events.filter((event) => event.type === "agent_start" && event.takeover).length;
