import type { ThreadApproval, ThreadListChange, ThreadRecord, ThreadSuspension } from "@cinch/core";

/** After this time a list is followed again that the source has stopped to send. */
const AGAIN_MS = 10_000;

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
  /** Another one for each time in which something subscribes. */
  #following: AbortController | undefined;
  #value: T | undefined;
  /** Why there is no list yet. */
  #error: unknown;
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

  /** Throws what the source refused the list with, for the error boundary of the component. */
  readonly read = (): T | undefined => {
    if (this.#error !== undefined) throw this.#error;
    return this.#value;
  };

  readonly subscribe = (changed: () => void): (() => void) => {
    this.#changed.add(changed);
    if (!this.#following) {
      this.#following = new AbortController();
      this.#keepFollowing(this.#following.signal).catch((error: unknown) => this.#failed(error));
    }
    return () => {
      this.#changed.delete(changed);
      if (this.#changed.size > 0) return;
      this.#following?.abort();
      this.#following = undefined;
      this.#error = undefined;
    };
  };

  async #keepFollowing(signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        await this.#follow(signal);
      } catch (error) {
        // A closed source ends the list as it is.
        if (signal.aborted || (error as { code?: unknown }).code === "CLOSED") return;
        this.#failed(error);
      }
      if (signal.aborted) return;
      await pause(signal);
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const changes = await this.#source.followThreads();
    const leave = () => void changes.return?.();
    signal.addEventListener("abort", leave);
    try {
      if (signal.aborted) return;
      await this.#loaded();
      // If it fails now, the list stays as it is until the next change. A source that refuses it ends the changes, too.
      for await (const _ of changes) this.#loaded().catch(() => undefined);
    } finally {
      leave();
    }
  }

  /** A list that was loaded is shown until there is a newer one. */
  #failed(error: unknown): void {
    if (this.#value !== undefined) return;
    this.#error = error;
    this.#announce();
  }

  #announce(): void {
    for (const changed of this.#changed) changed();
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
        this.#error = undefined;
        this.#announce();
      }
    } finally {
      this.#isLoading = false;
    }
  }
}

const pause = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, AGAIN_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
