import { CinchError, type DurableEvent } from "@cinch/core";
import { MemoryStore, type AppendOptions, type AppendResult, type DraftPiece, type Lease } from "@cinch/core/store";
import type { StampedEvent } from "@cinch/core/journal";

/** The `nth` call of the store: before it, or after it and before its result is returned. */
export interface Moment {
  nth: number;
  place: "before" | "after";
}

/** The store of a process that is killed at one exact call. `dieAt` starts the count. */
export class DyingStore extends MemoryStore {
  isDead = false;
  #asked = 0;
  #moment: Moment | undefined;

  dieAt(moment: Moment): void {
    this.#asked = 0;
    this.#moment = moment;
  }

  override append(threadId: string, events: readonly StampedEvent[], options: AppendOptions): Promise<AppendResult> {
    return this.#ask(() => super.append(threadId, events, options));
  }

  override read(...args: Parameters<MemoryStore["read"]>): Promise<DurableEvent[]> {
    return this.#ask(() => super.read(...args));
  }

  override findInput(...args: Parameters<MemoryStore["findInput"]>): Promise<number | undefined> {
    return this.#ask(() => super.findInput(...args));
  }

  override lease(threadId: string): Promise<Lease> {
    return this.#ask(() => super.lease(threadId));
  }

  override release(threadId: string, epoch: number): Promise<void> {
    return this.#ask(() => super.release(threadId, epoch));
  }

  override draft(threadId: string): Promise<DraftPiece[]> {
    return this.#ask(() => super.draft(threadId));
  }

  override blob(hash: string): Promise<Uint8Array | undefined> {
    return this.#ask(() => super.blob(hash));
  }

  async #ask<T>(answer: () => Promise<T>): Promise<T> {
    const nth = ++this.#asked;
    this.#reach(nth, "before");
    const answered = await answer();
    this.#reach(nth, "after");
    return answered;
  }

  #reach(nth: number, place: Moment["place"]): void {
    if (this.#moment?.nth === nth && this.#moment.place === place) {
      this.die();
      this.isDead = true;
    }
    if (this.isDead) throw new CinchError("CLOSED", "The process is dead.");
  }
}
