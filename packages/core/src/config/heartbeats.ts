import * as z from "zod/mini";
import { checkedConfig } from "./check.ts";
import { sleep, type Clock } from "../ports/clock.ts";
import { closedError, reasonOf } from "../errors.ts";
import type { ClusterLease } from "../workers/cluster-lease.ts";

/** Work that a harness repeats at an interval while it is open. */
export interface Heartbeat {
  id: string;
  intervalMs: number;
  /** Not called while its last run continues. If it throws, the error is reported as an event, and the next run is scheduled. */
  handler: (run: { signal: AbortSignal }) => unknown;
  /** Also run at once, not only after the first interval. */
  immediate?: boolean;
  /**
   * `cluster`: beats in one of the processes that share the store. When that one closes or dies, another one goes on, and its interval
   * begins anew. Default: `process`, in each.
   */
  scope?: "process" | "cluster";
  /** Called once: when the heartbeat is removed or replaced, or the harness closes. */
  shutdown?: () => unknown;
}

interface HeartbeatPorts {
  clock: Clock;
  /** The lease of a heartbeat of the cluster. */
  leaseOf(id: string): ClusterLease;
  /** Must not throw. */
  report(message: string): void;
}

/** How long `stop` waits for a run after it has aborted the signal. */
const GRACE_MS = 1_000;

const fn = <T>() => z.custom<T>((value) => typeof value === "function", "must be a function");

const Config = z.strictObject({
  id: z.string().check(z.minLength(1)),
  intervalMs: z.number().check(z.gte(1)),
  handler: fn<Heartbeat["handler"]>(),
  immediate: z.optional(z.boolean()),
  scope: z.optional(z.enum(["process", "cluster"])),
  shutdown: z.optional(fn<() => unknown>()),
});

export const HeartbeatList = z.array(Config).check(({ value, issues }) => {
  const duplicate = value.find(({ id }, at) => value.findIndex((other) => other.id === id) !== at);
  if (!duplicate) return;
  issues.push({ code: "custom", message: `two heartbeats have the id "${duplicate.id}": rename one`, input: value });
});

/** The heartbeats of a harness, by id. None runs before `start` or after `close`. */
export class Heartbeats {
  readonly #ports: HeartbeatPorts;
  readonly #beats = new Map<string, Beat>();
  #isStarted = false;
  #isClosed = false;

  constructor(ports: HeartbeatPorts, heartbeats: readonly Heartbeat[] = []) {
    this.#ports = ports;
    for (const heartbeat of heartbeats) this.#beats.set(heartbeat.id, new Beat(heartbeat, ports));
  }

  /** To be called once. */
  start(): void {
    this.#isStarted = true;
    for (const beat of Array.from(this.#beats.values())) beat.start();
  }

  /** Replaces the heartbeat with the same id, and settles when that one has ended. */
  async register(heartbeat: Heartbeat): Promise<void> {
    const valid = checkedConfig(Config, heartbeat, `Heartbeat ${JSON.stringify(heartbeat?.id ?? "?")}`);
    if (this.#isClosed) throw closedError();
    const beat = new Beat(valid, this.#ports);
    const replaced = this.#beats.get(valid.id);
    this.#beats.set(valid.id, beat);
    const ended = replaced?.stop();
    if (this.#isStarted) beat.start();
    await ended;
  }

  /** Settles when the heartbeat has ended. Never rejects. An unknown id is ignored. */
  async remove({ id }: { id: string }): Promise<void> {
    const beat = this.#beats.get(id);
    this.#beats.delete(id);
    await beat?.stop();
  }

  /** Settles when all have ended. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const beats = Array.from(this.#beats.values());
    this.#beats.clear();
    // The store releases the leases when it is closed.
    await Promise.all(beats.map((beat) => beat.stop({ retries: false })));
  }
}

class Beat {
  readonly #heartbeat: Heartbeat;
  readonly #ports: HeartbeatPorts;
  readonly #stopped = new AbortController();
  #cancelTimer: (() => void) | undefined;
  #run: Promise<void> | null = null;
  #isLate = false;
  /** `null`: it beats in each process. */
  readonly #lease: ClusterLease | null;

  constructor(heartbeat: Heartbeat, ports: HeartbeatPorts) {
    this.#heartbeat = heartbeat;
    this.#ports = ports;
    this.#lease = heartbeat.scope === "cluster" ? ports.leaseOf(heartbeat.id) : null;
  }

  start(): void {
    if (this.#lease && !this.#stopped.signal.aborted) this.#lease.start(() => this.#begin());
    else this.#begin();
  }

  #begin(): void {
    // The handler of an immediate heartbeat may have removed this one, and a lease may come while it stops.
    if (this.#stopped.signal.aborted) return;
    this.#cancelTimer?.();
    if (this.#heartbeat.immediate) this.#tick();
    else this.#schedule();
  }

  /** Settles when the run has ended, or after the grace period. With `retries`, a lease that can't be released is released later. */
  async stop({ retries }: { retries: boolean } = { retries: true }): Promise<void> {
    this.#cancelTimer?.();
    this.#stopped.abort();
    const shutdown = this.#attempt("failed to shut down", () => this.#heartbeat.shutdown?.());
    const ended = new AbortController();
    await Promise.race([Promise.all([this.#run, shutdown]), sleep(this.#ports.clock, GRACE_MS, ended.signal)]);
    ended.abort();
    await this.#lease?.stop({ retries }).catch(() => undefined);
  }

  #schedule(): void {
    this.#cancelTimer = this.#ports.clock.after(this.#heartbeat.intervalMs, () => this.#tick());
  }

  #tick(): void {
    // Before the run: the handler may stop the heartbeat, which cancels the timer.
    this.#schedule();
    if (!this.#run) this.#run = this.#beat();
    else if (!this.#isLate) {
      this.#isLate = true;
      this.#report(`takes longer than its ${this.#heartbeat.intervalMs} ms: runs are skipped until it is done`);
    }
  }

  async #beat(): Promise<void> {
    const { signal } = this.#stopped;
    const mayBeat = !this.#lease || (await this.#lease.holds());
    if (mayBeat && !signal.aborted) await this.#attempt("failed", () => this.#heartbeat.handler({ signal }), signal);
    this.#run = null;
    this.#isLate = false;
  }

  /** Reports what `work` throws, unless the signal is aborted: a handler may throw to stop. */
  async #attempt(what: string, work: () => unknown, signal?: AbortSignal): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!signal?.aborted) this.#report(`${what}: ${reasonOf(error)}`);
    }
  }

  #report(what: string): void {
    this.#ports.report(`Heartbeat "${this.#heartbeat.id}" ${what}`);
  }
}
