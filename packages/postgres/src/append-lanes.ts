import { CinchError } from "@cinch/core";
import type { Blob } from "@cinch/core/store";
import { isCrashPoint, killThisProcess } from "./append-crash.ts";
import type { AppendOp } from "./append-op.ts";
import { AWAY_MS, QueryFailed, pausing, type Database } from "./database.ts";
import { escapeText } from "./escaped-text.ts";
import { awayError } from "./failure.ts";
import type { LeaseHolder, LeaseState } from "./lease-holder.ts";

/** What `append_many` answers to one append. */
export type AppendOutcome =
  | ({ kind: "appended"; seq: number; no: number; listed?: boolean } & LeaseState)
  | { kind: "newer" }
  | ({ kind: "refused" } & LeaseState)
  | { kind: "not_found"; id: string }
  /** The journal ends before the `seq` after which the caller appends. */
  | { kind: "shorter"; last: number }
  /** The thread that is to be cloned ends before that `seq`. */
  | { kind: "no_source"; last: number };

interface Waiting {
  op: AppendOp;
  blobs: readonly Blob[];
  size: number;
  since: number;
  outcome: PromiseWithResolvers<AppendOutcome>;
}

const LANES = 2;
const MAX_BATCH = 200;
const MAX_BATCH_CHARS = 4_000_000;
/** How often a batch may be in the way of others before it counts as a failure. */
const MAX_CONFLICTS = 50;

/**
 * Sends appends in batches: while both lanes are busy, all that comes waits, and goes in one transaction when a lane is free.
 *
 * An append whose answer was lost may have been written or not. It is sent again until the server answers, and its nonce makes the server
 * answer as the first time. One that was never sent waits for `AWAY_MS` and is then rejected: its caller knows that nothing was written.
 */
export class AppendLanes {
  readonly #database: Database;
  readonly #holder: LeaseHolder;
  #waiting: Waiting[] = [];
  #busy = 0;
  #isScheduled = false;
  #giveUpAt = Infinity;
  #batches = 0;
  #batchedAppends = 0;

  constructor(database: Database, holder: LeaseHolder) {
    this.#database = database;
    this.#holder = holder;
  }

  append(op: AppendOp, blobs: readonly Blob[]): Promise<AppendOutcome> {
    const outcome = Promise.withResolvers<AppendOutcome>();
    const size = op.events.reduce(
      (sum, { body }) => sum + body.length,
      blobs.reduce((sum, { bytes }) => sum + 2 * bytes.length, 0),
    );
    this.#waiting.push({ op, blobs, size, since: performance.now(), outcome });
    this.#schedule();
    return outcome.promise;
  }

  /** How many transactions there were, and the appends in them. */
  get counts(): { batches: number; batchedAppends: number } {
    return { batches: this.#batches, batchedAppends: this.#batchedAppends };
  }

  /** From now on, appends are given up after `AWAY_MS` while the server is away. */
  giveUpSoon(): void {
    this.#giveUpAt = performance.now() + AWAY_MS;
  }

  /** After the code that runs now, which may append more. */
  #schedule(): void {
    if (this.#isScheduled || this.#busy >= LANES) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      if (this.#waiting.length === 0) return;
      this.#busy += 1;
      this.#work().catch((error: unknown) => this.#rejectAll(error));
      this.#schedule();
    });
  }

  async #work(): Promise<void> {
    for (let batch = this.#next(); batch.length > 0; batch = this.#next()) await this.#send(batch);
    this.#busy -= 1;
  }

  #next(): Waiting[] {
    let chars = 0;
    let count = 0;
    while (count < Math.min(MAX_BATCH, this.#waiting.length) && (count === 0 || chars < MAX_BATCH_CHARS))
      chars += this.#waiting[count++]!.size;
    return this.#waiting.splice(0, count);
  }

  async #send(batch: Waiting[]): Promise<void> {
    for (let attempt = 0; batch.length > 0; attempt++) {
      try {
        const outcomes = await this.#attempt(batch, attempt);
        this.#batches++;
        this.#batchedAppends += batch.length;
        for (const [at, { outcome }] of batch.entries()) outcome.resolve(outcomes[at]!);
        return;
      } catch (error) {
        if (!(error instanceof QueryFailed)) return rejectEach(batch, error);
        const { meaning } = error;
        if (meaning.kind === "failed") return this.#sendAlone(batch, meaning.error);
        if (meaning.kind === "again" && attempt > MAX_CONFLICTS)
          return rejectEach(batch, awayError(this.#database.place, error.cause));
        if (meaning.kind === "away" && meaning.committed === "maybe") for (const { op } of batch) op.retry = true;
        batch = this.#withoutExpired(batch, error.cause);
        this.#waiting = this.#withoutExpired(this.#waiting, error.cause);
        if (performance.now() > this.#giveUpAt) return rejectEach(batch, gaveUp(this.#database.place));
        await pausing(attempt);
      }
    }
  }

  /** One of them may be the reason, and the others succeed without it. */
  async #sendAlone(batch: Waiting[], error: unknown): Promise<void> {
    if (batch.length === 1) return rejectEach(batch, error);
    for (const one of batch) await this.#send([one]);
  }

  async #attempt(batch: Waiting[], attempt: number): Promise<AppendOutcome[]> {
    // By thread, so that two batches lock rows in the same order. The order of appends to one thread stays.
    batch.sort((a, b) => (a.op.id < b.op.id ? -1 : Number(a.op.id > b.op.id)));
    const blobs = new Map(batch.flatMap((one) => one.blobs.map(({ hash, bytes }) => [escapeText(hash), bytes])));
    const values = [
      JSON.stringify(batch.map(({ op }) => op)),
      this.#holder.no,
      JSON.stringify(this.#holder.dead()),
      [...blobs.keys()],
      Array.from(blobs.values(), (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
    ];
    const types = () => batch.flatMap(({ op }) => op.events.map(({ body }) => typeIn(body)));
    if (isCrashPoint("before", types)) killThisProcess();
    const isInside = isCrashPoint("inside", types);
    // The transaction goes on for a while after its process has died, and is then committed.
    const more = isInside ? ", pg_sleep(0.3)" : "";
    if (isInside) setTimeout(killThisProcess, 100);
    const text = `SELECT cinch.append_many($1, $2, $3, $4, $5) AS outcomes${more}`;
    const [row] = await this.#database.once<{ outcomes: AppendOutcome[] }>("append", { text, values }, attempt);
    if (isCrashPoint("after", types)) killThisProcess();
    return row!.outcomes;
  }

  /** Rejects those that were never sent and have waited too long. */
  #withoutExpired(all: Waiting[], cause: unknown): Waiting[] {
    const now = performance.now();
    const isExpired = ({ op, since }: Waiting) => !op.retry && now - since > AWAY_MS;
    rejectEach(all.filter(isExpired), awayError(this.#database.place, cause));
    return all.filter((one) => !isExpired(one));
  }

  #rejectAll(error: unknown): void {
    this.#busy -= 1;
    rejectEach(this.#waiting.splice(0), error);
  }
}

/** The JSON of an event begins with its type. */
const typeIn = (body: string): string => body.slice('{"type":"'.length, body.indexOf('"', '{"type":"'.length));

/** Not `STORE_BUSY`, which would say that nothing was written. */
const gaveUp = (place: string): CinchError =>
  new CinchError(
    "CLOSED",
    `The store was closed while ${place} did not answer. Whether the last append was written is unknown: read the thread to find out.`,
  );

function rejectEach(batch: readonly Waiting[], error: unknown): void {
  for (const { outcome } of batch) outcome.reject(error);
}
