import { stamp } from "./events.ts";
import type { FileJournal } from "./files.ts";
import { threadNotFound } from "./memory-store.ts";
import type { Folds } from "./folds/folds.ts";
import { Thread } from "./thread.ts";
import { needsDriving } from "./turn/decide.ts";
import type { DriverPorts } from "./turn/driver.ts";

interface Open {
  thread: Promise<Thread>;
  seats: number;
}

/** The threads that this process has open, each once, for as long as somebody sits at it or it is being driven here. */
export class ThreadRegistry {
  readonly #ports: DriverPorts;
  readonly #onRecover: "resume" | "pause";
  readonly #open = new Map<string, Open>();

  constructor(ports: DriverPorts, onRecover: "resume" | "pause") {
    this.#ports = ports;
    this.#onRecover = onRecover;
  }

  /** Takes a seat. A turn that was cut off goes on now, or is parked, as `onRecover` says. */
  async acquire(threadId: string, from?: Folds): Promise<Thread> {
    const known = this.#open.get(threadId);
    if (known && !(await isDeleted(known))) {
      known.seats++;
      return known.thread;
    }
    const open = { thread: this.#opened(threadId, from), seats: 1 };
    this.#open.set(threadId, open);
    try {
      return await open.thread;
    } catch (error) {
      this.#open.delete(threadId);
      throw error;
    }
  }

  async #opened(threadId: string, from: Folds | undefined): Promise<Thread> {
    if (!(await this.#ports.store.thread(threadId))) throw threadNotFound(threadId);
    const thread = await Thread.open(threadId, this.#ports, from);
    if (this.#onRecover === "pause" && thread.state.turn && needsDriving(thread.state)) await thread.pause();
    thread.wake();
    return thread;
  }

  /** Leaves a seat. A turn that is driven here, or that somebody here waits for, goes on all the same. */
  async release(threadId: string): Promise<void> {
    const open = this.#open.get(threadId);
    if (!open || --open.seats > 0) return;
    const thread = await open.thread;
    await thread.unneeded();
    if (open.seats > 0 || this.#open.get(threadId) !== open) return;
    this.#open.delete(threadId);
    await thread.close();
  }

  /** Does something at a thread without staying. */
  async visit<T>(threadId: string, work: (thread: Thread) => Promise<T>): Promise<T> {
    const thread = await this.acquire(threadId);
    try {
      return await work(thread);
    } finally {
      const left = this.release(threadId);
      left.catch(() => undefined);
    }
  }

  /** The journal in which the threads of a resource keep the files that they share. It is a thread that nobody talks to. */
  async shared(resourceId: string): Promise<FileJournal> {
    const id = `files:${resourceId}`;
    const { store, clock } = this.#ports;
    if (!(await store.thread(id))) {
      const made = stamp({ type: "thread_created", title: "", resourceId: id }, clock.now());
      await store.append(id, [made], { afterSeq: 0 });
    }
    const thread = await this.acquire(id);
    return {
      held: async () => {
        await thread.refresh();
        return thread.state.files.held;
      },
      record: async (decide, blobs) => {
        await thread.refresh();
        return thread.appendAlone((state) => {
          const changes = decide(state.files.held);
          if (!changes || changes.length === 0) return null;
          return changes.map((change) => ({ type: "file_changed" as const, ...change }));
        }, blobs);
      },
      blob: (hash) => store.blob(hash),
    };
  }

  async close(): Promise<void> {
    const threads = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(threads.map(async ({ thread }) => (await thread.catch(() => undefined))?.close()));
  }
}

/** A thread that was deleted is kept only for those who still wait for something of it. */
async function isDeleted({ thread }: Open): Promise<boolean> {
  return (await thread.catch(() => null))?.isDeleted ?? false;
}
