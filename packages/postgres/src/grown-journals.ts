import { setTimeout as pause } from "node:timers/promises";
import type { DurableEvent } from "@cinch/core";
import type { JournalReader } from "./journal-reader.ts";

/** A journal that another process has appended to. */
export interface Growth {
  /** What followers were told of before. */
  after: number;
  seq: number;
}

/** Without `events`, the reader has to read them. */
type Deliver = (threadId: string, seq: number, events?: readonly DurableEvent[]) => void;

const MOST_EVENTS = 2_000;
/** From the end of a query to the next one. While journals grow all the time, a query for each notice would cost more than the appends. */
const GAP_MS = 20;

/** Reads what other processes have appended: for all threads in one query, and while it runs and for a moment after it the next ones wait. */
export class GrownJournals {
  readonly #reader: JournalReader;
  readonly #deliver: Deliver;
  #waiting = new Map<string, Growth>();
  #reading: Promise<void> | undefined;

  constructor(reader: JournalReader, deliver: Deliver) {
    this.#reader = reader;
    this.#deliver = deliver;
  }

  add(threadId: string, { after, seq }: Growth): void {
    const known = this.#waiting.get(threadId);
    const growth = { after: Math.min(after, known?.after ?? after), seq: Math.max(seq, known?.seq ?? seq) };
    this.#waiting.set(threadId, growth);
    this.#start();
  }

  #start(): void {
    if (this.#reading || this.#waiting.size === 0) return;
    this.#reading = this.#read()
      .then(() => pause(GAP_MS, undefined, { ref: false }))
      .finally(() => {
        this.#reading = undefined;
        this.#start();
      });
  }

  /** Does not reject: whatever can't be read here is reported by the reads of the followers. */
  async #read(): Promise<void> {
    // The notices of one moment share a query.
    await Promise.resolve();
    const grown = this.#waiting;
    this.#waiting = new Map();
    const places = new Map(Array.from(grown, ([threadId, { after }]) => [threadId, after]));
    const found = await this.#reader.appended(places, MOST_EVENTS).catch(() => undefined);
    for (const [threadId, { seq }] of grown) {
      const events = found?.get(threadId) ?? [];
      const last = events.at(-1)?.seq ?? 0;
      if (last >= seq) this.#deliver(threadId, last, events);
      else this.#deliver(threadId, seq);
    }
  }
}
