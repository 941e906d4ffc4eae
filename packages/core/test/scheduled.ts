import { createHash } from "node:crypto";
import { setImmediate as macrotask } from "node:timers/promises";
import type { TestContext } from "node:test";
import { Harness, memoryStore, type Clock, type DurableEvent, type HarnessConfig, type Store } from "@cinch/core";
import { MemoryData, type AppendOptions, type MemoryStore } from "@cinch/core/store";
import type { StampedEvent } from "@cinch/core/journal";

/** Hashes are computed on another thread and settle at any time. Here they settle at once, so that a plan always runs the same way. */
export function hashAtOnce(t: TestContext): void {
  const { digest } = crypto.subtle;
  crypto.subtle.digest = async (_, bytes) => {
    const hash = createHash("sha256")
      .update(bytes as Uint8Array)
      .digest();
    return hash.buffer.slice(hash.byteOffset, hash.byteOffset + hash.byteLength) as ArrayBuffer;
  };
  t.after(() => (crypto.subtle.digest = digest));
}

interface Waiting {
  process: ScheduledProcess;
  label: string;
  go(): void;
}

interface Timer {
  at: number;
  process: ScheduledProcess;
  callback(): void;
}

/** Timers beyond this time are not waited for. */
const PATIENCE_MS = 10_000;
const MOST_STEPS = 20_000;

/**
 * Several processes on the same data, under a deterministic schedule. Everything that takes time (an operation of the store, an answer of
 * the model, a tool, a timer) waits, and the plan says what continues next: the same plan always runs the same way.
 */
export class Schedule {
  readonly data = new MemoryData();
  /** Which of the waiting operations continues next. After the end of this list: the one that has waited longest. */
  readonly #order: readonly number[];
  readonly #waiting: Waiting[] = [];
  #timers: Timer[] = [];
  #chosen = 0;
  #now = 1_000_000;
  #ids = 0;
  #steps = 0;

  constructor(order: readonly number[]) {
    this.#order = order;
  }

  id(kind: string): string {
    return `${kind}-${++this.#ids}`;
  }

  /** All events that were ever written, including reverted ones. */
  journal(threadId: string): DurableEvent[] {
    const rows = this.data.threads.get(threadId)?.journal ?? [];
    return rows.map(({ seq, json }) => ({ ...(JSON.parse(json) as StampedEvent), seq, threadId }) as DurableEvent);
  }

  lastSeq(threadId: string): number {
    return this.data.threads.get(threadId)?.journal.at(-1)?.seq ?? 0;
  }

  /** Waits until the schedule lets it continue. For a dead process it never settles. */
  pass(process: ScheduledProcess, label: string): Promise<void> {
    return new Promise((resolve) => {
      if (!process.dead) this.#waiting.push({ process, label, go: resolve });
    });
  }

  clock(process: ScheduledProcess): Clock {
    return {
      now: () => this.#now,
      after: (ms, callback) => {
        const timer = { at: this.#now + ms, process, callback };
        if (!process.dead) this.#timers.push(timer);
        return () => void (this.#timers = this.#timers.filter((one) => one !== timer));
      },
    };
  }

  forget(process: ScheduledProcess): void {
    const left = this.#waiting.filter((one) => one.process !== process);
    this.#waiting.splice(0, this.#waiting.length, ...left);
    this.#timers = this.#timers.filter((one) => one.process !== process);
  }

  /** Lets one operation continue. False if none can, also after the clock is advanced. */
  async step(patience: number): Promise<boolean> {
    await this.#rest();
    if (this.#waiting.length === 0) return this.#tick(this.#now + patience);
    this.#waiting.splice(this.#choose(this.#waiting.length), 1)[0]!.go();
    return true;
  }

  /** Runs an operation while others are in progress. */
  async interfere(act: () => void): Promise<void> {
    await this.#rest();
    const at = this.#choose(this.#waiting.length + 1);
    if (at === this.#waiting.length) return act();
    this.#waiting.splice(at, 1)[0]!.go();
    return this.interfere(act);
  }

  /** Waits until all microtasks of the last step have run. */
  async #rest(): Promise<void> {
    await macrotask();
    if (++this.#steps > MOST_STEPS)
      throw new Error(`No end in sight: ${this.#waiting.map(({ label }) => label).join()}`);
  }

  #choose(many: number): number {
    return (this.#order[this.#chosen++] ?? 0) % many;
  }

  /** Continues operations until none is left. */
  async settle(patience = PATIENCE_MS): Promise<void> {
    const until = this.#now + patience;
    while (await this.step(until - this.#now));
  }

  #tick(until: number): boolean {
    const next = this.#timers.toSorted((a, b) => a.at - b.at)[0];
    if (!next || next.at > until) return false;
    this.#timers = this.#timers.filter((one) => one !== next);
    this.#now = Math.max(this.#now, next.at);
    next.callback();
    return true;
  }
}

/** A harness on the shared data. After its death none of its operations continues. */
export class ScheduledProcess {
  readonly harness: Harness;
  readonly store: ScheduledStore;
  readonly #schedule: Schedule;
  dead = false;

  constructor(schedule: Schedule, configure: (process: ScheduledProcess) => HarnessConfig, appended: Appended) {
    this.#schedule = schedule;
    this.store = new ScheduledStore(schedule, this, appended);
    const clock = schedule.clock(this);
    const ids = (kind: string) => schedule.id(kind);
    this.harness = new Harness({ ...configure(this), storage: this.store, clock, ids });
  }

  die(): void {
    this.dead = true;
    this.store.die();
    this.#schedule.forget(this);
  }

  readonly pass = (label: string): Promise<void> => this.#schedule.pass(this, label);
}

export interface Deadline {
  /** How many operations are left before it dies. */
  operations: number;
  /** Before an operation of the store, after it, or while a tool runs. */
  place: "before" | "after" | "running";
}

/** Called after each append, before its process gets the result. `last` is the `seq` of the newest of the events. */
export type Appended = (threadId: string, events: readonly StampedEvent[], last: number) => void | Promise<void>;

const never = new Promise<never>(() => undefined);

/** A store in memory whose operations are scheduled, and that can die before or after one of them. */
class ScheduledStore implements Store {
  readonly #schedule: Schedule;
  readonly #process: ScheduledProcess;
  readonly #memory: MemoryStore;
  readonly #appended: Appended;
  #deadline: Deadline | undefined;

  constructor(schedule: Schedule, process: ScheduledProcess, appended: Appended) {
    this.#schedule = schedule;
    this.#process = process;
    this.#memory = memoryStore(schedule.data);
    this.#appended = appended;
  }

  dieAt(deadline: Deadline): void {
    this.#deadline = { ...deadline };
  }

  die(): void {
    this.#memory.die();
  }

  drives(threadId: string): boolean {
    return this.#schedule.data.leases.get(threadId)?.holder === this.#memory;
  }

  async #operation<T>(name: string, work: () => Promise<T>): Promise<T> {
    await this.#process.pass(name);
    if (this.strike("before")) return never;
    const result = await work();
    if (this.strike("after")) return never;
    await this.#process.pass(`${name}, done`);
    return result;
  }

  /** Whether it dies here. */
  strike(place: Deadline["place"]): boolean {
    const deadline = this.#deadline;
    if (deadline?.place !== place || deadline.operations-- > 0) return false;
    this.#process.die();
    return true;
  }

  open = () => this.#memory.open();
  close = () => this.#memory.close();

  append(threadId: string, events: readonly StampedEvent[], options: AppendOptions) {
    return this.#operation("append", async () => {
      const result = await this.#memory.append(threadId, events, options);
      if (result.kind !== "appended") return result;
      await this.#appended(threadId, events, result.seq);
      return result;
    });
  }

  read: Store["read"] = (...args) => this.#operation("read", () => this.#memory.read(...args));
  findInput: Store["findInput"] = (...args) => this.#operation("findInput", () => this.#memory.findInput(...args));
  findBlob: Store["findBlob"] = (...args) => this.#operation("findBlob", () => this.#memory.findBlob(...args));
  findEvents: Store["findEvents"] = (...args) => this.#operation("findEvents", () => this.#memory.findEvents(...args));
  thread: Store["thread"] = (...args) => this.#operation("thread", () => this.#memory.thread(...args));
  threads: Store["threads"] = (...args) => this.#operation("threads", () => this.#memory.threads(...args));
  deleteThread: Store["deleteThread"] = (...args) =>
    this.#operation("delete", () => this.#memory.deleteThread(...args));
  lease: Store["lease"] = (...args) => this.#operation("lease", () => this.#memory.lease(...args));
  holds: Store["holds"] = (...args) => this.#operation("holds", () => this.#memory.holds(...args));
  release: Store["release"] = (...args) => this.#operation("release", () => this.#memory.release(...args));
  stranded: Store["stranded"] = (...args) => this.#operation("stranded", () => this.#memory.stranded(...args));
  load: Store["load"] = () => this.#operation("load", () => this.#memory.load());
  announce: Store["announce"] = (...args) => this.#operation("announce", () => this.#memory.announce(...args));
  blob: Store["blob"] = (...args) => this.#operation("blob", () => this.#memory.blob(...args));
  saveDraft: Store["saveDraft"] = (...args) => this.#operation("saveDraft", () => this.#memory.saveDraft(...args));
  draft: Store["draft"] = (...args) => this.#operation("draft", () => this.#memory.draft(...args));

  followThreads: Store["followThreads"] = (resourceId) => this.#memory.followThreads(resourceId);

  /** Notifications are scheduled, and changes in between cause only one. */
  follow(threadId: string, changed: (seq?: number) => void): () => void {
    let underWay = false;
    let isOver = false;
    const off = this.#memory.follow(threadId, async () => {
      if (underWay) return;
      underWay = true;
      await this.#process.pass("follow");
      underWay = false;
      if (!isOver) changed();
    });
    return () => {
      isOver = true;
      off();
    };
  }
}
