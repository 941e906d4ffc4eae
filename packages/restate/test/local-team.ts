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
    await until(`a step of ${by}`, () => this.ran.some((run) => run.by === by));
  }

  /** Each call that was recorded ran, once. */
  async assertOnce(threadId: string): Promise<DurableEvent[]> {
    const { events, unrun } = await this.assertNoneTwice(threadId);
    assert.deepEqual(unrun, []);
    return events;
  }

  /**
   * Each call ran once at most. `unrun`: those that were recorded and did not run, because their driver died, or was cut off, after the
   * append and before the call. The model was told that their outcome is unknown.
   */
  async assertNoneTwice(threadId: string): Promise<{ events: DurableEvent[]; unrun: string[] }> {
    this.#store ??= this.place.store();
    const events = await (await this.#store).read(threadId);
    const keys = this.#keysOf(threadId);
    assert.equal(new Set(keys).size, keys.length);
    const starts = events.flatMap((event) => (event.type === "tool_start" ? [event] : []));
    const started = new Set(starts.map(({ key }) => key));
    assert.deepEqual(
      keys.filter((key) => !started.has(key)),
      [],
      "each call that ran was recorded",
    );
    const unrun = starts.filter(({ key }) => !keys.includes(key));
    for (const { toolCallId } of unrun) {
      const end = events.find((event) => event.type === "tool_end" && event.toolCallId === toolCallId);
      assert.ok(end?.type === "tool_end" && end.unknown, "a call that did not run has an unknown outcome");
    }
    return { events, unrun: unrun.map(({ key }) => key) };
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
