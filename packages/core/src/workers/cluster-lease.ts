import { isClosed } from "../errors.ts";
import { stamp } from "../events/event-map.ts";
import type { Clock } from "../ports/clock.ts";
import type { Store } from "../ports/store.ts";

/** How often a process that does not have it tries again. The store calls back when its holder releases it or dies. */
const RETRY_MS = 3_000;

interface ClusterLeasePorts {
  store: Store;
  clock: Clock;
}

/** What one of the processes on a store has at a time: the lease of a thread without messages, which no list shows. */
export class ClusterLease {
  readonly #ports: ClusterLeasePorts;
  readonly #threadId: string;
  #epoch: number | null = null;
  /** An append that failed, or has not settled, may have taken the lease with this epoch. */
  #mayHold: number | null = null;
  #trying: Promise<void> | undefined;
  #unfollow: (() => void) | undefined;
  #cancelRetry: (() => void) | undefined;
  #gained: () => void = () => undefined;
  #isStopped = false;

  constructor(ports: ClusterLeasePorts, name: string) {
    this.#ports = ports;
    this.#threadId = name;
  }

  /** Tries to get it, until it is stopped. Calls back each time that this process has got it. */
  start(gained: () => void): void {
    this.#gained = gained;
    this.#unfollow = this.#ports.store.follow(this.#threadId, () => this.#try());
    this.#try();
  }

  /** Whether this process has it. If it has lost it, it tries to get it again. Asks the store, because this process may have been stopped. */
  async holds(): Promise<boolean> {
    if (this.#epoch === null) return false;
    try {
      if (await this.#ports.store.holds(this.#threadId, this.#epoch)) return true;
    } catch {
      // While the store can't answer, another process may have it.
      return false;
    }
    this.#epoch = null;
    this.#try();
    return false;
  }

  /** Rejects if the lease can't be released now. With `retries`, that is tried again: until then no other process gets it. */
  async stop({ retries }: { retries: boolean }): Promise<void> {
    this.#isStopped = true;
    this.#unfollow?.();
    this.#cancelRetry?.();
    await this.#trying;
    const epoch = this.#epoch ?? this.#mayHold;
    this.#epoch = null;
    if (epoch !== null) await this.#release(epoch, retries);
  }

  async #release(epoch: number, retries: boolean): Promise<void> {
    const { store, clock } = this.#ports;
    try {
      await store.release(this.#threadId, epoch);
    } catch (error) {
      if (retries && !isClosed(error))
        clock.after(RETRY_MS, () => this.#release(epoch, retries).catch(() => undefined));
      throw error;
    }
  }

  #try(): void {
    if (this.#isStopped || this.#epoch !== null || this.#trying) return;
    this.#cancelRetry?.();
    this.#cancelRetry = this.#ports.clock.after(RETRY_MS, () => this.#try());
    // What failed is tried again.
    const tried = this.#take().catch(() => undefined);
    this.#trying = tried.finally(() => (this.#trying = undefined));
  }

  async #take(): Promise<void> {
    const { store, clock } = this.#ports;
    const id = this.#threadId;
    if (!(await store.thread(id))) {
      const made = stamp({ type: "thread_created", title: "", resourceId: id }, clock.now());
      await store.append(id, [made], { afterSeq: 0 });
    }
    const { epoch, status } = await store.lease(id);
    const isOurs = status === "mine" && epoch === this.#mayHold;
    if (!isOurs && status !== "free" && status !== "dead") return;
    if (!isOurs) {
      this.#mayHold = epoch + 1;
      const taken = await store.append(id, [], { afterSeq: 1, take: epoch });
      if (taken.kind !== "appended") {
        this.#mayHold = null;
        return;
      }
    }
    this.#epoch = this.#mayHold;
    this.#cancelRetry?.();
    if (!this.#isStopped) this.#gained();
  }
}
