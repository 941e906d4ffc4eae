import type { ThreadApproval, ThreadListChange, ThreadRecord, ThreadSuspension } from "@cinch/core";

/** A client or a harness, as far as lists of threads need it. */
export interface ThreadLists {
  listThreads(): Promise<ThreadRecord[]>;
  pending(): Promise<(ThreadApproval | ThreadSuspension)[]>;
  followThreads(): Promise<AsyncIterableIterator<ThreadListChange>>;
}

/** A list that is loaded again whenever threads change, for as long as something subscribes to it. */
export class ThreadListStore<T> {
  static readonly #threads = new WeakMap<ThreadLists, ThreadListStore<ThreadRecord[]>>();
  static readonly #pending = new WeakMap<ThreadLists, ThreadListStore<(ThreadApproval | ThreadSuspension)[]>>();
  readonly #source: ThreadLists;
  readonly #load: () => Promise<T>;
  readonly #changed = new Set<() => void>();
  #changes: Promise<AsyncIterableIterator<ThreadListChange>> | undefined;
  #value: T | undefined;
  #isOld = false;
  #isLoading = false;

  private constructor(source: ThreadLists, load: () => Promise<T>) {
    this.#source = source;
    this.#load = load;
  }

  /** One for each source, so that components share a connection. */
  static threadsOf(source: ThreadLists): ThreadListStore<ThreadRecord[]> {
    const store = this.#threads.get(source) ?? new ThreadListStore(source, () => source.listThreads());
    this.#threads.set(source, store);
    return store;
  }

  static pendingOf(source: ThreadLists): ThreadListStore<(ThreadApproval | ThreadSuspension)[]> {
    const store = this.#pending.get(source) ?? new ThreadListStore(source, () => source.pending());
    this.#pending.set(source, store);
    return store;
  }

  readonly read = (): T | undefined => this.#value;

  readonly subscribe = (changed: () => void): (() => void) => {
    this.#changed.add(changed);
    if (!this.#changes) {
      this.#changes = this.#source.followThreads();
      // A closed source ends the list as it is.
      this.#follow(this.#changes).catch(() => undefined);
    }
    return () => {
      this.#changed.delete(changed);
      if (this.#changed.size > 0) return;
      this.#changes?.then((changes) => changes.return?.()).catch(() => undefined);
      this.#changes = undefined;
    };
  };

  async #follow(following: Promise<AsyncIterableIterator<ThreadListChange>>): Promise<void> {
    const changes = await following;
    await this.#loaded();
    // A closed source ends the list as it is.
    for await (const _ of changes) this.#loaded().catch(() => undefined);
  }

  /** Changes that come while the list is loaded are loaded once, together. */
  async #loaded(): Promise<void> {
    this.#isOld = true;
    if (this.#isLoading) return;
    this.#isLoading = true;
    try {
      while (this.#isOld) {
        this.#isOld = false;
        this.#value = await this.#load();
        for (const changed of this.#changed) changed();
      }
    } finally {
      this.#isLoading = false;
    }
  }
}
