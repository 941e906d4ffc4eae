import { CinchError } from "../errors.ts";
import type { StampedEvent } from "../events/event-map.ts";
import type { Inherited } from "../folds/folds.ts";
import { threadNotFound } from "../ports/memory-thread.ts";
import type { Store, ThreadQuery, ThreadRecord } from "../ports/store.ts";
import type { Thread } from "./thread.ts";
import type { ThreadRegistry } from "./thread-registry.ts";

interface NewJournal {
  threadId: string;
  resourceId: string;
  events: readonly StampedEvent[];
  /** 0, or a clone's `atSeq`. */
  afterSeq: number;
}

/**
 * The threads that a session can reach: all, or only those of one resource. A session gets to threads in no other way, and for a confined
 * one a thread of another resource is the same as a thread that does not exist.
 */
export class ReachableThreads {
  readonly #store: Store;
  readonly #registry: ThreadRegistry;
  readonly #confinedTo: string | null;

  constructor(store: Store, registry: ThreadRegistry, confinedTo: string | null) {
    this.#store = store;
    this.#registry = registry;
    this.#confinedTo = confinedTo;
  }

  /** `undefined`: there is no such thread, or the session can't reach it. */
  async find(threadId: string): Promise<ThreadRecord | undefined> {
    const record = await this.#store.thread(threadId);
    return record && this.#isOutside(record.resourceId) ? undefined : record;
  }

  /** Throws `THREAD_NOT_FOUND`. */
  async record(threadId: string): Promise<ThreadRecord> {
    const record = await this.find(threadId);
    if (!record) throw threadNotFound(threadId);
    return record;
  }

  async acquire(threadId: string, from?: Inherited): Promise<{ thread: Thread; record: ThreadRecord }> {
    const record = await this.record(threadId);
    return { thread: await this.#registry.acquire(threadId, from), record };
  }

  async visit<T>(threadId: string, work: (thread: Thread) => Promise<T>): Promise<T> {
    await this.record(threadId);
    return this.#registry.visit(threadId, work);
  }

  /** Not awaited by sessions: the thread stays open as long as this process drives it. */
  release(thread: Thread): void {
    this.#registry.release(thread).catch(() => undefined);
  }

  async list(query: ThreadQuery & { resourceId: string }): Promise<ThreadRecord[]> {
    if (this.#isOutside(query.resourceId)) return [];
    const before = query.before === undefined ? undefined : await this.#store.thread(query.before);
    if (before && this.#isOutside(before.resourceId)) return [];
    return this.#store.threads(query);
  }

  async delete(threadId: string): Promise<void> {
    await this.record(threadId);
    await this.#store.deleteThread(threadId);
  }

  /**
   * Creates a thread. False if the resource has one under this id, because another process or an earlier call created it. Throws `THREAD_EXISTS` if the id belongs to another resource or to a deleted thread, and does not say which.
   */
  async create({ threadId, resourceId, events, afterSeq }: NewJournal): Promise<boolean> {
    const isNew = await this.#append(threadId, events, afterSeq);
    if (isNew || (await this.#store.thread(threadId))?.resourceId === resourceId) return isNew;
    throw new CinchError("THREAD_EXISTS", `The thread id "${threadId}" is in use. Choose another one.`);
  }

  /** False if the id is in use, or was. */
  async #append(threadId: string, events: readonly StampedEvent[], afterSeq: number): Promise<boolean> {
    try {
      return (await this.#store.append(threadId, events, { afterSeq })).kind === "appended";
    } catch (error) {
      const isMissing = error instanceof CinchError && error.code === "THREAD_NOT_FOUND";
      const [first] = events;
      const sourceId = first?.type === "thread_cloned" ? first.parent.threadId : undefined;
      // Either the source of a clone is missing, or the id is that of a deleted thread.
      if (!isMissing || (sourceId !== undefined && !(await this.#store.thread(sourceId)))) throw error;
      return false;
    }
  }

  #isOutside(resourceId: string): boolean {
    return this.#confinedTo !== null && resourceId !== this.#confinedTo;
  }
}
