import { setImmediate as macrotask } from "node:timers/promises";
import { Harness, memoryStore, type Clock, type DurableEvent, type LanguageModel, type Store } from "@cinch/core";
import { MemoryData, type AppendOptions, type MemoryStore } from "@cinch/core/store";
import type { StampedEvent } from "@cinch/core/journal";
import { call, say, scriptedBy } from "@cinch/testkit";
import type { Ran } from "./denied-oracle.ts";
import { configOf, type Run, type Setting } from "./denied-setting.ts";

export type ModelCall = [toolName: string, args: unknown];

/** The model's script and the schedule of a random world. */
export interface WorldPlan {
  /** The calls of each answer of the model. After the last one it answers with text, and starts again. */
  batches: ModelCall[][];
  /** Which of the waiting operations continues next. After the end of this list: the one that has waited longest. */
  order: number[];
}

interface Waiting {
  process: Process;
  label: string;
  go(): void;
}

interface Timer {
  at: number;
  process: Process;
  callback(): void;
}

/** Timers beyond this time are not waited for. */
const PATIENCE_MS = 10_000;
const MOST_STEPS = 20_000;

/**
 * Several processes on the same data, under a deterministic schedule. Everything that takes time (an operation of the store, an answer of
 * the model, a tool, a timer) waits, and the plan says what continues next: the same plan always runs the same way.
 */
export class World {
  readonly data = new MemoryData();
  readonly plan: WorldPlan;
  readonly ran: Ran[] = [];
  /** By thread and `seq`, the configuration of the process that wrote an event. */
  readonly writers = new Map<string, Setting>();
  /** By thread and `seq` of a clone or rewind, the events that are in force after it. */
  readonly cuts = new Map<string, readonly DurableEvent[]>();
  readonly #waiting: Waiting[] = [];
  #timers: Timer[] = [];
  #chosen = 0;
  #now = 1_000_000;
  #ids = 0;
  #answers = 0;
  #steps = 0;

  constructor(plan: WorldPlan) {
    this.plan = plan;
  }

  id(kind: string): string {
    return `${kind}-${++this.#ids}`;
  }

  nextBatch(): ModelCall[] {
    const { batches } = this.plan;
    return batches[this.#answers++ % (batches.length + 1)] ?? [];
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
  pass(process: Process, label: string): Promise<void> {
    return new Promise((resolve) => {
      if (!process.dead) this.#waiting.push({ process, label, go: resolve });
    });
  }

  clock(process: Process): Clock {
    return {
      now: () => this.#now,
      after: (ms, callback) => {
        const timer = { at: this.#now + ms, process, callback };
        if (!process.dead) this.#timers.push(timer);
        return () => void (this.#timers = this.#timers.filter((one) => one !== timer));
      },
    };
  }

  forget(process: Process): void {
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
    return (this.plan.order[this.#chosen++] ?? 0) % many;
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
export class Process {
  readonly harness: Harness;
  readonly store: DyingStore;
  readonly setting: Setting;
  readonly #world: World;
  dead = false;

  constructor(world: World, setting: Setting, onRecover: "resume" | "pause" = "resume") {
    this.#world = world;
    this.setting = setting;
    this.store = new DyingStore(world, this);
    const clock = world.clock(this);
    const ids = (kind: string) => world.id(kind);
    const config = configOf(setting, { model: this.#model(), run: this.#run });
    this.harness = new Harness({ ...config, storage: this.store, clock, ids, onRecover });
  }

  die(): void {
    this.dead = true;
    this.store.die();
    this.#world.forget(this);
  }

  #model(): LanguageModel {
    return scriptedBy((options) => {
      const batch = this.#world.nextBatch();
      const answer = batch.length === 0 ? say("done") : call(...batch.map(named));
      const { pass } = this;
      return async function* () {
        await pass("model");
        yield* answer(options);
      };
    });
  }

  readonly pass = (label: string): Promise<void> => this.#world.pass(this, label);

  readonly #run: Run = async (toolName, args, { threadId, toolCallId, key, suspend, resumed }) => {
    this.#world.ran.push({ threadId, toolCallId, toolName, key, args, seq: this.#world.lastSeq(threadId) });
    this.store.strike("running");
    await this.pass(toolName);
    if (args.does === "throw") throw new Error("it broke");
    if (args.does === "suspend" && !resumed) suspend({ what: "now?" });
    return "done";
  };
}

/** Ids are unique within a message only, so every message has the same ones. */
const named = ([toolName, args]: ModelCall, at: number): [string, unknown, string] => [toolName, args, `c${at}`];

export interface Deadline {
  /** How many operations are left before it dies. */
  operations: number;
  /** Before an operation of the store, after it, or while a tool runs. */
  place: "before" | "after" | "running";
}

const never = new Promise<never>(() => undefined);

/** A store in memory whose operations are scheduled, and that can die before or after one of them. */
class DyingStore implements Store {
  readonly #world: World;
  readonly #process: Process;
  readonly #memory: MemoryStore;
  #deadline: Deadline | undefined;

  constructor(world: World, process: Process) {
    this.#world = world;
    this.#process = process;
    this.#memory = memoryStore(world.data);
  }

  dieAt(deadline: Deadline): void {
    this.#deadline = { ...deadline };
  }

  die(): void {
    this.#memory.die();
  }

  drives(threadId: string): boolean {
    return this.#world.data.leases.get(threadId)?.holder === this.#memory;
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
      const { seq } = result;
      for (const at of events.keys()) this.#world.writers.set(`${threadId}:${seq - at}`, this.#process.setting);
      if (events[0]?.type === "thread_cloned" || events[0]?.type === "thread_rewound")
        this.#world.cuts.set(`${threadId}:${seq}`, await this.#memory.read(threadId, { upTo: seq - 1 }));
      return result;
    });
  }

  read: Store["read"] = (...args) => this.#operation("read", () => this.#memory.read(...args));
  findInput: Store["findInput"] = (...args) => this.#operation("findInput", () => this.#memory.findInput(...args));
  findEvents: Store["findEvents"] = (...args) => this.#operation("findEvents", () => this.#memory.findEvents(...args));
  thread: Store["thread"] = (...args) => this.#operation("thread", () => this.#memory.thread(...args));
  threads: Store["threads"] = (...args) => this.#operation("threads", () => this.#memory.threads(...args));
  deleteThread: Store["deleteThread"] = (...args) =>
    this.#operation("delete", () => this.#memory.deleteThread(...args));
  lease: Store["lease"] = (...args) => this.#operation("lease", () => this.#memory.lease(...args));
  holds: Store["holds"] = (...args) => this.#operation("holds", () => this.#memory.holds(...args));
  release: Store["release"] = (...args) => this.#operation("release", () => this.#memory.release(...args));
  blob: Store["blob"] = (...args) => this.#operation("blob", () => this.#memory.blob(...args));
  saveDraft: Store["saveDraft"] = (...args) => this.#operation("saveDraft", () => this.#memory.saveDraft(...args));
  draft: Store["draft"] = (...args) => this.#operation("draft", () => this.#memory.draft(...args));

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
