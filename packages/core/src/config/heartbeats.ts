import * as z from "zod/mini";
import { checkedConfig } from "./check.ts";
import { sleep, type Clock } from "../ports/clock.ts";
import { closedError, reasonOf } from "../errors.ts";

/** Work that a harness does again and again, for as long as it is open. */
export interface Heartbeat {
  id: string;
  intervalMs: number;
  /** Never called while its last run goes on. What it throws is told to those who listen, and it keeps beating. */
  handler: (run: { signal: AbortSignal }) => unknown;
  /** Also runs at once, not only after the first interval. */
  immediate?: boolean;
  /** Called once: when the heartbeat is removed or replaced, or the harness closed. */
  shutdown?: () => unknown;
}

export interface HeartbeatPorts {
  clock: Clock;
  /** Must not throw. */
  report(message: string): void;
}

/** How long a run may go on after its signal was aborted, before it is left behind. */
const GRACE_MS = 1_000;

const fn = <T>() => z.custom<T>((value) => typeof value === "function", "must be a function");

const Config = z.strictObject({
  id: z.string().check(z.minLength(1)),
  intervalMs: z.number().check(z.gte(1)),
  handler: fn<Heartbeat["handler"]>(),
  immediate: z.optional(z.boolean()),
  shutdown: z.optional(fn<() => unknown>()),
});

export const HeartbeatList = z.array(Config).check(({ value, issues }) => {
  const twice = value.find(({ id }, at) => value.findIndex((other) => other.id === id) !== at);
  if (!twice) return;
  issues.push({ code: "custom", message: `two heartbeats have the id "${twice.id}": rename one`, input: value });
});

/** The heartbeats of a harness, by id. They wait for `start`, and none runs after `close`. */
export class Heartbeats {
  readonly #ports: HeartbeatPorts;
  readonly #beats = new Map<string, Beat>();
  #started = false;
  #closed = false;

  constructor(ports: HeartbeatPorts, heartbeats: readonly Heartbeat[] = []) {
    this.#ports = ports;
    for (const heartbeat of heartbeats) this.#beats.set(heartbeat.id, new Beat(heartbeat, ports));
  }

  /** To be called once. */
  start(): void {
    this.#started = true;
    for (const beat of Array.from(this.#beats.values())) beat.start();
  }

  /** One with the same id is replaced. Settles when that one has ended. */
  async register(heartbeat: Heartbeat): Promise<void> {
    const valid = checkedConfig(Config, heartbeat, `Heartbeat ${JSON.stringify(heartbeat?.id ?? "?")}`);
    if (this.#closed) throw closedError();
    const beat = new Beat(valid, this.#ports);
    const replaced = this.#beats.get(valid.id);
    this.#beats.set(valid.id, beat);
    const ended = replaced?.stop();
    if (this.#started) beat.start();
    await ended;
  }

  /** Settles when it has ended, at once if there is none. Never rejects. */
  async remove({ id }: { id: string }): Promise<void> {
    const beat = this.#beats.get(id);
    this.#beats.delete(id);
    await beat?.stop();
  }

  /** Settles when all have ended. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(Array.from(this.#beats.keys(), (id) => this.remove({ id })));
  }
}

class Beat {
  readonly #heartbeat: Heartbeat;
  readonly #ports: HeartbeatPorts;
  readonly #stopped = new AbortController();
  #untick: (() => void) | undefined;
  #run: Promise<void> | null = null;
  #late = false;

  constructor(heartbeat: Heartbeat, ports: HeartbeatPorts) {
    this.#heartbeat = heartbeat;
    this.#ports = ports;
  }

  start(): void {
    // What ran just before may have removed this one.
    if (this.#stopped.signal.aborted) return;
    if (this.#heartbeat.immediate) this.#tick();
    else this.#wait();
  }

  /** Settles when what runs has ended, and after a second of grace in any case. */
  async stop(): Promise<void> {
    this.#untick?.();
    this.#stopped.abort();
    const shutdown = this.#attempt("could not be shut down", () => this.#heartbeat.shutdown?.());
    const ended = new AbortController();
    await Promise.race([Promise.all([this.#run, shutdown]), sleep(this.#ports.clock, GRACE_MS, ended.signal)]);
    ended.abort();
  }

  #wait(): void {
    this.#untick = this.#ports.clock.after(this.#heartbeat.intervalMs, () => this.#tick());
  }

  #tick(): void {
    // Before the run, which may be the one that stops it.
    this.#wait();
    if (!this.#run) this.#run = this.#beat();
    else if (!this.#late) {
      this.#late = true;
      this.#report(`takes longer than its ${this.#heartbeat.intervalMs} ms: it is skipped until it is done`);
    }
  }

  async #beat(): Promise<void> {
    const { signal } = this.#stopped;
    await this.#attempt("failed", () => this.#heartbeat.handler({ signal }), signal);
    this.#run = null;
    this.#late = false;
  }

  /** Calls it now. What it throws is told, unless it was asked to stop: then that is how it stops. */
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
