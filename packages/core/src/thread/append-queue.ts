import { CinchError } from "../errors.ts";
import { stamp, type DurableEvent, type StampedEvent } from "../events/event-map.ts";
import { progressAt } from "../folds/progress.ts";
import { reduceThreadAll, type ThreadState } from "../folds/state.ts";
import type { Clock } from "../ports/clock.ts";
import type { AppendOptions, AppendResult, Blob, Store } from "../ports/store.ts";
import { isActive, nextDueAt, type Appended, type Decide } from "../turn/decide.ts";
import type { LeaseUse } from "../turn/driver.ts";
import type { Counters } from "../workers/counters.ts";
import type { OwedWork } from "./owed-work.ts";

/** The thread that the queue appends to. */
interface OpenThread {
  readonly id: string;
  readonly state: ThreadState;
  readonly ports: { readonly store: Store; readonly clock: Clock; readonly counters: Counters };
  readonly owed: OwedWork;
}

/** How the queue changes its thread. */
interface ThreadAccess {
  /** Runs `work` when all earlier work has settled. */
  exclusively(work: () => Promise<void>): Promise<void>;
  /** This process has appended these events, a driver's under this epoch, and `after` is the state that they fold to. */
  appended(events: readonly DurableEvent[], after: ThreadState, epoch?: number): Promise<void>;
  /** Another process has appended these events. */
  followed(events: readonly DurableEvent[]): Promise<void>;
}

/** A decision that waits for the journal. */
interface Waiting {
  decide: Decide<unknown>;
  lease: LeaseUse | undefined;
  outcome: PromiseWithResolvers<Appended<unknown>>;
}

/** What one decision appends. `durable`: its events as the journal has them after the commit. */
interface Decided {
  stamped: readonly StampedEvent[];
  durable: readonly DurableEvent[];
  blobs: readonly Blob[];
  release: boolean;
  result: unknown;
}

/** Decisions that share a commit, and the state that they leave. */
interface Group {
  decided: readonly Decided[];
  after: ThreadState;
}

/**
 * Appends what decisions propose, in the order in which they came. Deciding and appending are one step: if another process has appended
 * first, its events are folded and the decisions are made again. Decisions that wait at the same time, under the same lease, share a
 * commit: each is made from the state that the earlier ones leave, and none is answered before the commit.
 */
export class AppendQueue {
  readonly #thread: OpenThread;
  readonly #access: ThreadAccess;
  readonly #waiting: Waiting[] = [];

  constructor(thread: OpenThread, access: ThreadAccess) {
    this.#thread = thread;
    this.#access = access;
  }

  append<Result>(decide: Decide<Result>, lease?: LeaseUse): Promise<Appended<Result>> {
    const outcome = Promise.withResolvers<Appended<unknown>>();
    this.#waiting.push({ decide, lease, outcome });
    this.#access.exclusively(() => this.#commit()).catch((error: unknown) => outcome.reject(error));
    return outcome.promise as Promise<Appended<Result>>;
  }

  /** Answers the first decision that waits, and up to `most` together with it. */
  async #commit(most = Infinity): Promise<void> {
    // An earlier commit has included what this one was for.
    if (this.#waiting.length === 0) return;
    let group: Group | undefined;
    let stored: AppendResult | null;
    try {
      group = this.#decide(most);
      stored = await this.#store(group);
      if (stored?.kind === "newer") await this.#access.followed(stored.events);
    } catch (error) {
      // The events may have been written: to decide again could append them twice.
      if (group && !isWithoutEffect(error)) return this.#reject(group.decided.length, error);
      // It is away for all of them, and has taken seconds to say so.
      if (group && isAway(error)) return this.#reject(group.decided.length, error);
      // One of them may be the reason, and the others succeed without it.
      if (most > 1 && group?.decided.length !== 1) return this.#commit(1);
      return this.#reject(1, error);
    }
    if (stored?.kind === "newer") return this.#commit(most);
    // Later decisions of the group were made from a state that the thread does not reach.
    if (stored?.kind === "refused" && group.decided.length > 1) return this.#commit(1);
    await this.#answer(group, stored);
  }

  #reject(count: number, error: unknown): void {
    for (const { outcome } of this.#waiting.splice(0, count)) outcome.reject(error);
  }

  /** Decides for the longest beginning of the queue that can share a commit: under one lease, up to the decision that releases it. */
  #decide(most: number): Group {
    const { id, ports } = this.#thread;
    const decided: Decided[] = [];
    let after = this.#thread.state;
    for (const { decide, lease } of this.#waiting.slice(0, most)) {
      if (decided.at(-1)?.release || !isSameLease(lease, this.#waiting[0]?.lease)) break;
      // Decided from the state at the time of the events, so that they fold to what the decision has seen.
      const now = ports.clock.now();
      const { events = [], blobs = [], release = false, result } = decide(progressAt(after, now)) ?? {};
      const stamped = events.map((event) => stamp(event, now));
      const first = after.seq + 1;
      const durable = stamped.map((event, at) => ({ ...event, seq: first + at, threadId: id }) as DurableEvent);
      after = reduceThreadAll(after, durable);
      decided.push({ stamped, durable, blobs, release: release && events.length > 0, result });
    }
    return { decided, after };
  }

  /** `null`: there is nothing to append. */
  async #store({ decided, after }: Group): Promise<AppendResult | null> {
    const { id, state, ports, owed } = this.#thread;
    const events = decided.flatMap(({ stamped }) => stamped);
    if (events.length === 0) return null;
    const blobs = decided.flatMap((one) => one.blobs);
    const { lease } = this.#waiting[0]!;
    const release = decided.at(-1)!.release;
    // What a newer release wrote may mean more work than this release can see: what it said about that stays.
    const awake = owed.awakeAfter(
      decided.flatMap(({ durable }) => durable),
      { before: state, after },
    );
    const left = after.foreign ? {} : { active: isActive(after), ...awake, dueAt: nextDueAt(after) };
    const options: AppendOptions = { afterSeq: state.seq, ...lease, release, ...left };
    const begun = performance.now();
    const stored = await ports.store.append(id, events, blobs.length > 0 ? { ...options, blobs } : options);
    ports.counters.append.add(performance.now() - begun);
    if (stored.kind === "refused") ports.counters.refusedAppends++;
    return stored;
  }

  async #answer({ decided, after }: Group, stored: AppendResult | null): Promise<void> {
    const answered = this.#waiting.splice(0, decided.length);
    try {
      if (stored?.kind === "appended")
        await this.#access.appended(
          decided.flatMap(({ durable }) => durable),
          after,
          answered[0]?.lease && stored.epoch,
        );
      for (const [at, { outcome }] of answered.entries()) outcome.resolve(outcomeOf(decided[at]!, stored));
    } catch (error) {
      for (const { outcome } of answered) outcome.reject(error);
    }
  }
}

function outcomeOf({ stamped: events, release: released, result }: Decided, stored: AppendResult | null) {
  if (events.length === 0) return { kind: "nothing" as const, result };
  if (stored?.kind !== "appended") return { kind: "refused" as const };
  return { kind: "appended" as const, events, epoch: stored.epoch, released, driven: stored.driven, result };
}

/** Whether the store has certainly written nothing. */
const isWithoutEffect = (error: unknown): boolean =>
  error instanceof CinchError && ["INVALID_INPUT", "STORE_FULL", "STORE_BUSY"].includes(error.code);

const isAway = (error: unknown): boolean => error instanceof CinchError && error.code === "STORE_BUSY";

/** A lease is taken once. */
function isSameLease(lease: LeaseUse | undefined, first: LeaseUse | undefined): boolean {
  if (lease === first) return true;
  return !!lease && !!first && "epoch" in lease && "epoch" in first && lease.epoch === first.epoch;
}
