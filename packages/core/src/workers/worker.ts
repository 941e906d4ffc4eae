import { CinchError, reasonOf } from "../errors.ts";
import { settling, withTimeout, type Clock } from "../ports/clock.ts";
import type { DriveOutcome, Placement } from "../ports/placement.ts";
import type { Lease, Store, StrandedThread } from "../ports/store.ts";
import type { OpenThreads } from "../turn/driver.ts";
import type { DriveEnd } from "../thread/supervisor.ts";
import type { Thread } from "../thread/thread.ts";
import { progressAt } from "../folds/progress.ts";
import type { ThreadState } from "../folds/state.ts";
import { needsDriving, nextDueAt } from "../turn/decide.ts";
import { Setbacks } from "./setbacks.ts";
import { SharedLook } from "./shared-look.ts";
import type { Wakes } from "./wakes.ts";

/** How often a worker looks for threads without a driver. */
const LOOK_MS = 500;
/** For so long, a wake may still be on its way to another worker. */
const FREE_MS = 1_000;
/** For so long after a thread had to wait for room, the worker looks as soon as it has room. */
const CROWDED_MS = 10_000;
const PLACEMENT_MS = 5_000;

export interface WorkerLimits {
  /** How many threads this process drives at once. */
  maxThreads: number;
  /** How many threads of one resource all processes together drive at once. */
  maxPerResource: number;
}

interface WorkerPorts {
  store: Store;
  clock: Clock;
  placement: Placement;
  threads: OpenThreads;
  wakes: Wakes;
  /** What happens to a turn whose driver died. */
  onRecover: "resume" | "pause";
  report(message: string): void;
}

/** A thread that this worker drives, or is about to. */
interface Slot {
  /** It was woken since the drive began to end. */
  isWokenAgain: boolean;
  outcome: Promise<DriveOutcome>;
}

/**
 * Drives the threads that wakes bring, and those that it finds without a driver. What does not fit stays awake in the store, which lists
 * it to a worker with room: there is no queue here. The store also keeps the limit of a resource, because it counts the threads that all
 * processes drive, and lists the oldest of the others first: workers that look at the same time want the same threads, and only one of
 * them gets each.
 */
export class Worker {
  readonly #ports: WorkerPorts;
  readonly #limits: WorkerLimits;
  readonly #slots = new Map<string, Slot>();
  readonly #setbacks: Setbacks;
  readonly #wanted: SharedLook;
  #crowdedUntil = 0;
  #cancelLook: (() => void) | undefined;
  #looking: Promise<void> | undefined;
  #isDraining = false;

  constructor(ports: WorkerPorts, limits: WorkerLimits) {
    this.#ports = ports;
    this.#limits = limits;
    this.#setbacks = new Setbacks(ports.clock);
    this.#wanted = new SharedLook((wanted) => this.#lookFor(wanted));
  }

  /** How many threads it drives, or is about to. */
  get size(): number {
    return this.#slots.size;
  }

  /** Settles when the placement brings wakes, or has failed to: the worker also finds threads by itself. */
  async start(): Promise<void> {
    const { placement, clock, report } = this.#ports;
    this.#scheduleLook();
    const served = settling(() => placement.serve((threadId) => this.drive(threadId)));
    served.catch((error: unknown) => report(`The placement brings no wakes: ${reasonOf(error)}`));
    await withTimeout(clock, served, { ms: PLACEMENT_MS }).catch(() => undefined);
  }

  /** Drives the thread until it rests. */
  async drive(threadId: string): Promise<DriveOutcome> {
    const admitted = await this.#admit(threadId);
    return typeof admitted === "string" ? admitted : admitted.outcome;
  }

  /** False if it has no room for the thread, or is leaving. */
  async admits(threadId: string): Promise<boolean> {
    const admitted = await this.#admit(threadId);
    return admitted !== "busy" && admitted !== "handed_over";
  }

  async #admit(threadId: string): Promise<Slot | DriveOutcome> {
    const known = this.#rejoin(threadId);
    if (known) return known;
    if (this.#isDraining) return "handed_over";
    if (this.#room <= 0) return this.#refuse();
    try {
      await this.#wanted.look(threadId);
    } catch {
      return "busy";
    }
    const taken = this.#rejoin(threadId);
    if (taken) return taken;
    if (this.#isDraining) return "handed_over";
    if (this.#room <= 0) return this.#refuse();
    // It needs no driver, has one, or its resource has as many as it may have: no other worker could take it either.
    this.#crowdedUntil = this.#ports.clock.now() + CROWDED_MS;
    return "done";
  }

  #rejoin(threadId: string): Slot | undefined {
    const slot = this.#slots.get(threadId);
    if (slot) slot.isWokenAgain = true;
    return slot;
  }

  #refuse(): DriveOutcome {
    this.#crowdedUntil = this.#ports.clock.now() + CROWDED_MS;
    return "busy";
  }

  get #room(): number {
    return this.#isDraining ? 0 : this.#limits.maxThreads - this.#slots.size;
  }

  /** Takes those of the wanted threads that the store lists, in its order. */
  async #lookFor(wanted: ReadonlySet<string>): Promise<void> {
    const listed = await this.#stranded({ freeMs: 0, except: this.#setbacks.threads.filter((id) => !wanted.has(id)) });
    for (const { threadId } of listed) if (wanted.has(threadId)) this.#take(threadId);
    // So many have waited longer that the wanted ones may be missing. They come first, wherever their own wakes have gone.
    if (listed.length >= this.#limits.maxThreads) this.#look(0);
  }

  #scheduleLook(): void {
    this.#cancelLook = this.#ports.clock.after(LOOK_MS, () => {
      this.#look(FREE_MS);
      this.#scheduleLook();
    });
  }

  #look(freeMs: number): void {
    if (this.#looking || this.#room <= 0) return;
    // A store that can't answer now is asked again by the next look.
    const looked = this.#takeStranded(freeMs).catch(() => undefined);
    this.#looking = looked.finally(() => (this.#looking = undefined));
  }

  async #takeStranded(freeMs: number): Promise<void> {
    const listed = await this.#stranded({ freeMs, except: this.#setbacks.threads });
    const isLate = listed.some(({ awakeMs }) => awakeMs > FREE_MS + 2 * LOOK_MS);
    if (isLate) this.#crowdedUntil = this.#ports.clock.now() + CROWDED_MS;
    for (const { threadId } of listed) this.#take(threadId);
  }

  /** Lists the threads that it is about to drive, too: so the store counts them for the limit of their resource. */
  #stranded(query: { freeMs: number; except: readonly string[] }): Promise<StrandedThread[]> {
    const { maxThreads: limit, maxPerResource } = this.#limits;
    return this.#ports.store.stranded({ limit, maxPerResource, ...query });
  }

  #take(threadId: string): void {
    if (this.#room <= 0 || this.#slots.has(threadId)) return;
    const slot: Slot = { isWokenAgain: false, outcome: Promise.resolve("done") };
    this.#slots.set(threadId, slot);
    slot.outcome = this.#driven(threadId, slot)
      .catch((error: unknown): DriveOutcome => {
        if (error instanceof CinchError && error.code === "THREAD_NOT_FOUND") return "done";
        this.#setbacks.add(threadId);
        return "busy";
      })
      .finally(() => this.#leave(threadId));
  }

  #leave(threadId: string): void {
    this.#slots.delete(threadId);
    if (this.#ports.clock.now() < this.#crowdedUntil) this.#look(0);
  }

  async #driven(threadId: string, slot: Slot): Promise<DriveOutcome> {
    const { store, threads, onRecover } = this.#ports;
    const wasOpen = threads.opened(threadId) !== undefined;
    // While the journal is read.
    let lease = wasOpen || onRecover === "pause" ? undefined : store.lease(threadId);
    lease?.catch(() => undefined);
    const thread = await threads.acquire(threadId);
    try {
      if (wasOpen) await thread.refresh();
      if (onRecover === "pause") await thread.supervisor.pause();
      for (;;) {
        slot.isWokenAgain = false;
        const end = await this.#end(thread, lease);
        lease = undefined;
        if (!slot.isWokenAgain || this.#isDraining) return this.#outcome(thread, end);
        await thread.refresh();
      }
    } finally {
      // Not awaited: a thread stays open for sessions of this process that wait for something of it.
      threads.release(thread).catch(() => undefined);
    }
  }

  async #end(thread: Thread, lease: Promise<Lease> | undefined): Promise<DriveEnd> {
    await this.#continueDue(thread);
    const { seq } = thread.state;
    const end = await thread.supervisor.drive(lease);
    // Nothing was to be driven: the thread is awake because a process has died before it did what it owed.
    const isUnchanged = thread.state.seq === seq;
    if (end !== "rested" || !(thread.owed.isOpen || isUnchanged)) return end;
    const isSettled = await thread.owed.settle();
    // By the clock of the store it is due, and by that of this process it is not.
    const isTooEarly = isUnchanged && nextDueAt(thread.state) !== null;
    return thread.isClosed || (isSettled && !isTooEarly) ? "rested" : "stuck";
  }

  /** A call whose time is over is continued by a command of this process, which is on its way. */
  async #continueDue(thread: Thread): Promise<void> {
    const { clock } = this.#ports;
    // An input that is due needs no command: the drive takes it.
    const isDue = (state: ThreadState) => {
      const now = progressAt(state, clock.now());
      return !needsDriving(now) && (nextDueAt(now) ?? Infinity) <= clock.now();
    };
    await withTimeout(
      clock,
      thread.until((state) => !isDue(state)),
    );
  }

  #outcome(thread: Thread, end: DriveEnd): DriveOutcome {
    if (end !== "stuck") {
      this.#setbacks.delete(thread.id);
      return "done";
    }
    if (this.#isDraining) {
      this.#ports.wakes.sendElsewhere(thread.id);
      return "handed_over";
    }
    this.#setbacks.add(thread.id, nextDueAt(thread.state));
    return "busy";
  }

  /** Takes no more threads. Those that it drives end by their supervisors. */
  async drain(): Promise<void> {
    if (this.#isDraining) return;
    this.#isDraining = true;
    this.#cancelLook?.();
    const { placement, store, clock, report } = this.#ports;
    const drained = Promise.all([settling(() => placement.drain()), store.announce({ draining: true })]);
    drained.catch((error: unknown) =>
      report(`The other processes may not know that this worker drains: ${reasonOf(error)}`),
    );
    await withTimeout(clock, drained).catch(() => undefined);
  }

  /** Settles when it drives no thread any more. */
  async ended(): Promise<void> {
    await Promise.all(Array.from(this.#slots.values(), ({ outcome }) => outcome));
    await this.#looking;
  }
}
