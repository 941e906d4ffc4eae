import type { CinchError } from "@cinch/core";
import type { Blob } from "@cinch/core/store";
import { isCrashPoint, killThisProcess } from "./append-crash.ts";
import type { AppendOp } from "./append-op.ts";
import {
  ASKED_AGAIN_PAUSE_MS,
  AWAY_MS,
  QueryFailed,
  lockLimit,
  pausing,
  type Database,
  type Statement,
} from "./database.ts";
import { escapeText } from "./escaped-text.ts";
import { awayError, closedUnknown, finalError } from "./failure.ts";
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
  /** It was sent, and the answer may still come. */
  isUnderWay: boolean;
  /** Why its last attempt failed. */
  cause?: unknown;
}

interface SendOptions {
  isBeside?: boolean;
  /** How long it waits for each lock (`lockLimit`). Default: as `append_many` says. */
  limit?: string;
}

const LANES = 2;
const MAX_BATCH = 200;
const MAX_BATCH_CHARS = 4_000_000;
/** How long each append of a batch that met a lock waits for one when it is sent alone: many may be locked. */
const ALONE_LOCK_MS = 100;
/** What conflicts more often, in about 3 s, may do so for ever, as an append to a damaged journal does. */
const MAX_CONFLICTS = 20;

/**
 * Sends appends in batches: while both lanes are busy, all that comes waits, and goes in one transaction when a lane is free.
 *
 * An append whose answer was lost may have been written or not, and its transaction may still run on the server. Whatever later attempts
 * fail with, it is sent again until the server answers, and its nonce makes the server answer as the first time. One that was never sent,
 * or only in transactions that were rolled back, waits for `AWAY_MS` and is then rejected: its caller knows that nothing was written.
 */
export class AppendLanes {
  readonly #database: Database;
  readonly #holder: LeaseHolder;
  #waiting: Waiting[] = [];
  /** All that have no outcome yet. */
  readonly #open = new Set<Waiting>();
  #busy = 0;
  #isScheduled = false;
  #timer: NodeJS.Timeout | undefined;
  #giveUpAt = Infinity;
  /** Why the last attempt of any failed. */
  #cause: unknown;
  /** The last attempt of those beside the lanes, one at a time: the other connection is for the lanes. */
  #asking: Promise<unknown> = Promise.resolve();
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
    const one = { op, blobs, size, since: performance.now(), outcome, isUnderWay: false };
    this.#open.add(one);
    this.#waiting.push(one);
    if (!this.#timer) this.#expire();
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
    this.#expire();
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

  async #send(all: readonly Waiting[], { isBeside = false, limit }: SendOptions = {}): Promise<void> {
    let conflicts = 0;
    let unanswered = 0;
    for (let attempt = 0; ; attempt++) {
      const batch = all.filter((one) => this.#open.has(one));
      if (batch.length === 0) return;
      try {
        const ask = () => this.#attempt(batch, unanswered, limit);
        return await (isBeside ? this.#inTurn(ask) : ask());
      } catch (error) {
        if (!(error instanceof QueryFailed)) return this.#reject(batch, error);
        const { meaning } = error;
        this.#cause = error.cause;
        for (const one of batch) one.cause = error.cause;
        const isStuck = meaning.kind === "again" && ++conflicts > MAX_CONFLICTS;
        const failure =
          meaning.kind === "failed" ? meaning.error : isStuck && awayError(this.#database.place, error.cause);
        const isLocked = meaning.kind === "locked";
        const isShared = batch.length > 1 || batch[0]!.op.retry;
        if ((failure || isLocked) && isShared && !isBeside) {
          this.#expire();
          return this.#sendAlone(batch);
        }
        if (isLocked && !isBeside) return this.#sendBeside(batch[0]!);
        if (failure) this.#rejectFinally(batch, failure);
        if (failure && this.#open.has(batch[0]!)) this.#database.warnUnknown("append", failure);
        if (error.isUnknown) unanswered += 1;
        this.#expire();
        if (batch.some((one) => this.#open.has(one)))
          await pausing(attempt, isBeside ? ASKED_AGAIN_PAUSE_MS : undefined);
      }
    }
  }

  /**
   * One of them may be the reason, and the others succeed without it. The lane does not wait for those that are asked for until it is known:
   * one whose answer is lost only now comes back here when it fails again.
   */
  async #sendAlone(batch: readonly Waiting[]): Promise<void> {
    for (const one of batch)
      if (one.op.retry) this.#sendBeside(one);
      else await this.#send([one], { limit: lockLimit(ALONE_LOCK_MS) });
  }

  /** What may fail for as long as its thread is locked, or until its outcome is known, holds up no lane. */
  #sendBeside(one: Waiting): void {
    this.#send([one], { isBeside: true }).catch((error: unknown) => this.#reject([one], error));
  }

  #inTurn(attempt: () => Promise<void>): Promise<void> {
    const asking = this.#asking.then(attempt);
    this.#asking = asking.catch(() => undefined);
    return asking;
  }

  async #attempt(batch: Waiting[], unanswered: number, limit?: string): Promise<void> {
    let sent: Waiting[] = [];
    const statement = () => {
      sent = batch.filter((one) => this.#open.has(one));
      for (const one of sent) one.isUnderWay = true;
      return sent.length > 0 ? this.#statementOf(sent, limit) : undefined;
    };
    try {
      const [row] = await this.#database.once<{ outcomes: AppendOutcome[] }>("append", statement, unanswered);
      if (sent.length === 0) return;
      if (isCrashPoint("after", () => typesIn(sent))) killThisProcess();
      this.#cause = undefined;
      this.#batches++;
      this.#batchedAppends += sent.length;
      for (const [at, one] of sent.entries()) {
        one.outcome.resolve(row!.outcomes[at]!);
        this.#close(one);
      }
    } catch (error) {
      const isUnknown = error instanceof QueryFailed && error.isUnknown;
      for (const one of sent) {
        one.isUnderWay = false;
        if (isUnknown) one.op.retry = true;
      }
      throw error;
    }
  }

  #statementOf(batch: Waiting[], limit?: string): Statement {
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
    const types = () => typesIn(batch);
    if (isCrashPoint("before", types)) killThisProcess();
    const isInside = isCrashPoint("inside", types);
    // The transaction goes on for a while after its process has died, and is then committed.
    const more = isInside ? ", pg_sleep(0.3)" : "";
    if (isInside) setTimeout(killThisProcess, 100);
    // Columns are evaluated from left to right.
    const first = limit ? `${limit}, ` : "";
    return { text: `SELECT ${first}cinch.append_many($1, $2, $3, $4, $5) AS outcomes${more}`, values };
  }

  /** Rejects those that were not sent and have waited too long, whatever the lanes wait for, and comes back for the next one. */
  #expire(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const now = performance.now();
    if (now >= this.#giveUpAt) this.#reject([...this.#open], closedUnknown(this.#database.place, "append"));
    let next = this.#open.size > 0 ? this.#giveUpAt : Infinity;
    for (const one of this.#open) {
      const until = one.since + AWAY_MS;
      if (one.isUnderWay || one.op.retry) continue;
      if (now >= until)
        this.#reject([one], awayError(this.#database.place, one.cause ?? this.#cause ?? new Error(SILENT)));
      else next = Math.min(next, until);
    }
    this.#waiting = this.#waiting.filter((one) => this.#open.has(one));
    if (next < Infinity) this.#timer = setTimeout(() => this.#expire(), next - now + 1);
  }

  /** Of those that may have been written, only what `finalError` allows. */
  #rejectFinally(batch: readonly Waiting[], error: CinchError): void {
    for (const one of batch) {
      const final = finalError(error, { isUnknown: one.op.retry === true });
      if (final) this.#reject([one], final);
    }
  }

  #reject(batch: readonly Waiting[], error: unknown): void {
    for (const one of batch) {
      one.outcome.reject(error);
      this.#close(one);
    }
  }

  #close(one: Waiting): void {
    this.#open.delete(one);
    if (this.#open.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #rejectAll(error: unknown): void {
    this.#busy -= 1;
    this.#waiting = [];
    this.#reject([...this.#open], error);
  }
}

const SILENT = "it does not answer";

const typesIn = (batch: readonly Waiting[]): string[] =>
  batch.flatMap(({ op }) => op.events.map(({ body }) => typeIn(body)));

/** The JSON of an event begins with its type. */
const typeIn = (body: string): string => body.slice('{"type":"'.length, body.indexOf('"', '{"type":"'.length));
