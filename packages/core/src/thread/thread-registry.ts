import { stamp } from "../events/event-map.ts";
import type { FileJournal } from "../events/files.ts";
import type { Inherited } from "../folds/folds.ts";
import { settling, withTimeout } from "../ports/clock.ts";
import { progressAt } from "../folds/progress.ts";
import { trieRecord } from "../folds/trie.ts";
import type { DriveOutcome } from "../ports/placement.ts";
import { Thread } from "./thread.ts";
import { needsDriving, waitsForPerson } from "../turn/decide.ts";
import type { AgentModes } from "../config/agent-modes.ts";
import type { DriverPorts } from "../turn/driver.ts";
import { DriverWatch } from "./driver-watch.ts";
import { DueThreads } from "./due-threads.ts";
import { unansweredIn } from "./unanswered.ts";

/** How long `close` waits for background subagents with `autoCancel` to end. */
const AUTO_CANCEL_MS = 2_000;

/** How long a live link may take to close. */
const LIVE_CLOSE_MS = 5_000;

/** A thread that this process has open, or is opening. */
interface Open {
  thread: Promise<Thread>;
  seats: number;
  /** The thread, once it is open. */
  opened?: Thread;
}

/** The threads that this process has open. Each is open once, while a session is at it or this process drives it. */
export class ThreadRegistry {
  readonly #ports: DriverPorts;
  readonly #modes: AgentModes;
  readonly #onRecover: "resume" | "pause";
  readonly #open = new Map<string, Open>();
  readonly #seated = new WeakMap<Thread, Open>();
  #isDraining = false;

  constructor(ports: Omit<DriverPorts, "threads" | "due" | "watch">, modes: AgentModes, onRecover: "resume" | "pause") {
    this.#ports = {
      ...ports,
      threads: this,
      due: new DueThreads(ports.clock),
      watch: new DriverWatch(ports.clock),
    };
    this.#modes = modes;
    this.#onRecover = onRecover;
  }

  /** Opens the thread for a session. An interrupted turn is continued or parked, as `onRecover` says. */
  async acquire(threadId: string, from?: Inherited): Promise<Thread> {
    for (;;) {
      const open: Open = this.#open.get(threadId) ?? { thread: this.#opened(threadId, from), seats: 0 };
      this.#open.set(threadId, open);
      // Counted before anything is awaited, so that a session that leaves meanwhile does not close the thread.
      open.seats++;
      try {
        const thread = await open.thread;
        open.opened = thread;
        this.#seated.set(thread, open);
        if (!thread.isDeleted) return thread;
      } catch (error) {
        this.#forget(threadId, open);
        throw error;
      }
      // A deleted thread is kept only for callers that still wait for something of it.
      this.#forget(threadId, open);
    }
  }

  /** Must be called before a thread is driven: other processes find this one by the address that its leases have. */
  async openLive(): Promise<void> {
    const { live, store } = this.#ports;
    const opened = await live?.open({ watch: (threadId, ...reader) => this.opened(threadId)?.feed.watch(...reader) });
    if (opened?.address !== undefined) await store.announce?.({ address: opened.address });
  }

  opened(threadId: string): Thread | undefined {
    return this.#open.get(threadId)?.opened;
  }

  #forget(threadId: string, open: Open): void {
    if (this.#open.get(threadId) === open) this.#open.delete(threadId);
  }

  async #opened(threadId: string, from: Inherited | undefined): Promise<Thread> {
    const thread = await Thread.open(threadId, { ports: this.#ports, modes: this.#modes }, from);
    // With a placement, the worker that takes the thread over decides.
    const mayPause = this.#onRecover === "pause" && !this.#ports.wakes;
    if (mayPause && thread.state.turn && needsDriving(thread.state)) await thread.supervisor.pause();
    if (this.#isDraining) await thread.supervisor.drain(0);
    thread.wake();
    return thread;
  }

  /** A session leaves the thread. The thread stays open while this process drives it, or a caller here waits for it. */
  async release(thread: Thread): Promise<void> {
    const open = this.#seated.get(thread);
    if (!open || --open.seats > 0) return;
    await thread.unneeded();
    if (open.seats > 0) return;
    this.#forget(thread.id, open);
    await thread.close();
  }

  /** Opens the thread for the time that `work` takes. */
  async visit<T>(threadId: string, work: (thread: Thread) => Promise<T>): Promise<T> {
    const thread = await this.acquire(threadId);
    try {
      return await work(thread);
    } finally {
      const left = this.release(thread);
      left.catch(() => undefined);
    }
  }

  async ofResource<T>(what: "files" | "memory", resourceId: string, work: (thread: Thread) => Promise<T>): Promise<T> {
    return this.visit(await this.#hidden(what, resourceId), work);
  }

  /** A thread without messages. No list has it, because its resource is another one. */
  async #hidden(what: "files" | "memory", resourceId: string): Promise<string> {
    const id = `${what}:${resourceId}`;
    const { store, clock } = this.#ports;
    if (await store.thread(id)) return id;
    const made = stamp({ type: "thread_created", title: "", resourceId: id }, clock.now());
    await store.append(id, [made], { afterSeq: 0 });
    return id;
  }

  /** The journal in which the threads of a resource keep the files that they share: that of a thread without messages. */
  async shared(resourceId: string): Promise<FileJournal> {
    const { store } = this.#ports;
    const thread = await this.acquire(await this.#hidden("files", resourceId));
    return {
      held: async () => {
        await thread.refresh();
        return trieRecord(thread.state.files.held);
      },
      record: async (decide, blobs) => {
        await thread.refresh();
        const isRecorded = await thread.command((state) => {
          const changes = decide(trieRecord(state.files.held)) ?? [];
          const events = changes.map((change) => ({ type: "file_changed" as const, ...change }));
          return { events, blobs: blobs ?? [], result: events.length > 0 };
        });
        return isRecorded ?? false;
      },
      blob: (hash) => store.blob(hash),
    };
  }

  /** How many threads are open here, and how many of them this process drives. */
  get load(): { threads: number; turns: number } {
    const driven = Array.from(this.#open.values()).filter(({ opened }) => opened?.supervisor.isAtWork);
    return { threads: this.#open.size, turns: driven.length };
  }

  /** How many readers in other processes the threads have that this process drives. */
  get liveReaders(): number {
    return Array.from(this.#open.values()).reduce((sum, { opened }) => sum + (opened?.feed.readers ?? 0), 0);
  }

  /** The calls that wait for a person in the threads that are open here, and how to answer them. */
  unanswered(): string[] {
    const open = Array.from(this.#open.values());
    return open.flatMap(({ opened }) => (opened && waitsForPerson(opened.state) ? unansweredIn(opened.display) : []));
  }

  /** Opens the thread, and drives it until it rests. `busy`: it needs a driver, and this process can't be it. */
  async drive(threadId: string): Promise<DriveOutcome> {
    const { store, clock } = this.#ports;
    if (!(await store.thread(threadId))) return "done";
    return this.visit(threadId, async (thread) => {
      const { seq } = thread.state;
      await thread.supervisor.rest();
      const state = progressAt(thread.state, clock.now());
      const isResting = !needsDriving(state) && !state.foreign;
      // The store may say all the same that it is awake: an older release did not, or a worker has died before it did what it owed.
      if (isResting && state.seq === seq) return (await thread.owed.settle()) ? "done" : "busy";
      if (isResting) return "done";
      if (this.#isDraining) return "handed_over";
      return (await store.lease(threadId)).status === "held" ? "done" : "busy";
    });
  }

  /** Begins no step and no call any more. Settles when those that run have ended, or after `ms`. */
  async drain(ms: number): Promise<void> {
    this.#isDraining = true;
    await Promise.all(Array.from(this.#open.values(), ({ opened }) => opened?.supervisor.drain(ms)));
  }

  /** First lets the steps and calls that run end, for up to `drainMs`. */
  async close({ drainMs }: { drainMs: number }): Promise<void> {
    const drained = this.drain(drainMs);
    // With a placement, subagents in the background go on in another process.
    const open = this.#ports.wakes ? [] : Array.from(this.#open.values());
    const cancelled = open.map(({ opened }) => opened?.children.autoCancel().catch(() => undefined));
    // A subagent that does not stop in time goes on in the next process.
    await withTimeout(this.#ports.clock, Promise.all(cancelled), { ms: AUTO_CANCEL_MS });
    await drained;
    const threads = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(threads.map(async ({ thread }) => (await thread.catch(() => undefined))?.close()));
    // The store has to be closed in any case: until then this process has its leases.
    const { live, clock } = this.#ports;
    await withTimeout(
      clock,
      settling(() => live?.close()).catch(() => undefined),
      { ms: LIVE_CLOSE_MS },
    );
  }
}
