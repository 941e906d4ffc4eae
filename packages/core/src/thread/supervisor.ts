import { CinchError, isClosed, reasonOf } from "../errors.ts";
import { newerError } from "../commands/refuse-foreign.ts";
import { abortRequest } from "../commands/abort.ts";
import { worksOnCancelledRun } from "../folds/runs.ts";
import { firstDueAt, hasQueued, queuedCount } from "../folds/inbox.ts";
import { progressAt } from "../folds/progress.ts";
import type { ThreadState } from "../folds/state.ts";
import { sleep, withTimeout } from "../ports/clock.ts";
import { needsDriving, waitsForPerson, type Appended, type Decide } from "../turn/decide.ts";
import type { Thread } from "./thread.ts";
import type { Lease } from "../ports/store.ts";
import { Driver, LeaseLost, type DriverPorts, type Journal, type LeaseUse } from "../turn/driver.ts";
import { giveUp, parked, runTurns } from "../turn/turn.ts";

/** How long to wait before the store is asked again that could not be used now. */
const RETRY_MS = 1_000;
/** The longest pause between two attempts to drive a subagent. */
const LONGEST_RETRY_MS = 60_000;
/** How long a process waits for another one that is to drive first. */
const STAND_BACK_MS = 250;

export interface SupervisedThread extends Journal {
  report(what: string, error: unknown): void;
  /** Another process drives: the answer that streams here is not part of the conversation. */
  discardDraft(): void;
  append<Result>(decide: Decide<Result>, lease?: LeaseUse): Promise<Appended<Result>>;
  /** The thread can't be driven here: callers that wait for it are rejected. */
  failed(error: unknown): void;
}

/**
 * How a drive for a worker has ended. `rested`: the thread needs no driver. `elsewhere`: another process drives it. `stuck`: it needs a
 * driver, and this process can't be it now.
 */
export type DriveEnd = "rested" | "elsewhere" | "stuck";

/**
 * Drives a thread when it needs a driver and has none, and otherwise watches that its driver stays alive. With a placement it drives only
 * while a worker lets it, and watches nothing: workers look for threads without a driver.
 */
export class Supervisor {
  readonly #thread: SupervisedThread;
  readonly #ports: DriverPorts;
  #driver: Driver | undefined;
  /** It releases its lease, for which it waits for the store. */
  #releasing: Driver | undefined;
  #running: Promise<void> | undefined;
  /** Resolved when the driver that runs has stopped, also if its lease can't be released yet. `undefined`: none runs. */
  #stopped: PromiseWithResolvers<void> | undefined;
  #again: { force: boolean } | undefined;
  #cancelRetry: (() => void) | undefined;
  #reportedBlock: string | undefined;
  /** The store failed while this process drove. Of a top-level thread, the next command tries again. */
  #broken: Error | null = null;
  #retryMs = RETRY_MS;
  #closed = false;
  #isDraining = false;
  /** Whether this process may drive the thread. */
  #isAssigned: boolean;
  #isDrivenElsewhere = false;
  /** Asked for while the thread was being opened. If it has changed since, taking it fails. */
  #lease: Promise<Lease> | undefined;
  /** The turn that this process drove last. */
  #lastDrivenTurnId: string | undefined;
  #declinesQuestions = false;
  /** Until then, another process is to drive first. */
  #standsBackUntil = 0;
  /** `null`: it does not wait for another process. */
  #standingBack: AbortController | null = null;

  constructor(thread: SupervisedThread, ports: DriverPorts) {
    this.#thread = thread;
    this.#ports = ports;
    this.#isAssigned = ports.wakes === undefined;
  }

  /** Settles when the driver that runs now has stopped, and has released its lease. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  /** Settles when no driver runs. One whose lease can't be released yet has stopped. */
  async rest(): Promise<void> {
    while (this.#stopped) await this.#stopped.promise;
  }

  #hasStopped(): void {
    this.#stopped?.resolve();
    this.#stopped = undefined;
  }

  /** This process drives the thread, or tries to: it does not leave that to another one. */
  get isAtWork(): boolean {
    return this.#running !== undefined && this.#standingBack === null;
  }

  /** This process has the lease, and has begun or continued the turn. */
  get isDriving(): boolean {
    return this.#driver?.hasDriven ?? false;
  }

  /** This process has appended under a lease, and nothing is told of it yet: the timeout of a subagent counts from the first event on. */
  begun(): void {
    this.#driver?.begun();
  }

  get broken(): Error | null {
    return this.#broken;
  }

  /** A caller has given a command: what failed before is tried again. */
  clearFailure(): void {
    this.#broken = null;
  }

  /** Whether calls that wait for a person are declined. */
  get declinesQuestions(): boolean {
    return this.#declinesQuestions;
  }

  /** A session has entered the thread. With `onAsk: "decline"`, calls that wait for a person are declined from now on. */
  sessionEntered(): void {
    if (this.#ports.wakes) return;
    this.#declinesQuestions = this.#ports.modes.declinesQuestions;
    this.wake();
  }

  abortTurn(): void {
    this.#driver?.abortTurn();
  }

  /**
   * This process has appended these events. It drives its own input at once. After an answer, the process that asked drives first: a
   * process that only answers may exit at once, and would interrupt the call that it has started.
   */
  appended(events: readonly { type: string }[]): void {
    if (this.#ports.wakes) return;
    if (events.some(isInput)) this.#stopStandingBack();
    else if (events.some(isAnswer) && !this.#running && this.#thread.state.turn?.turnId !== this.#lastDrivenTurnId)
      this.#standBack();
  }

  /**
   * Another process has appended these events. It drives its own input first. If it is gone, or can't drive, this process does, however
   * many inputs follow.
   */
  followed(events: readonly { type: string; at: number }[]): void {
    const { clock, counters, wakes } = this.#ports;
    counters.follow.add(clock.now() - (events.at(-1)?.at ?? clock.now()));
    if (wakes) return;
    const inputs = events.filter(isInput).length;
    if (inputs > 0 && inputs >= queuedCount(this.#thread.state.inbox)) this.#standBack();
  }

  #standBack(): void {
    this.#standsBackUntil = this.#ports.clock.now() + STAND_BACK_MS;
  }

  #stopStandingBack(): void {
    this.#standsBackUntil = 0;
    this.#standingBack?.abort();
  }

  /** `force` also continues a parked turn, and takes held inputs. */
  wake({ force = false } = {}): void {
    if (this.#closed || !this.#isAssigned || !this.#mayDrive) return;
    // Is called again when the next scheduled input is due. What is due now needs no timer: this call is for it.
    this.#ports.due.set(this, firstDueAt(this.#stateNow.inbox));
    if (!this.#isCalledFor(this.#stateNow, force)) return this.#reportBlocked();
    if (this.#running) {
      this.#again = { force: force || (this.#again?.force ?? false) };
      return;
    }
    this.#stopped = Promise.withResolvers<void>();
    this.#running = this.#driveWhenDue(force).finally(() => {
      this.#hasStopped();
      this.#running = undefined;
      const again = this.#again;
      this.#again = undefined;
      if (again) this.wake(again);
    });
  }

  /** For a worker: drives the thread until it rests. */
  async drive(lease?: Promise<Lease>): Promise<DriveEnd> {
    this.#lease = lease;
    this.#isAssigned = true;
    this.#isDrivenElsewhere = false;
    this.#broken = null;
    this.#declinesQuestions = this.#ports.modes.declinesQuestions;
    try {
      this.wake();
      while (this.#running) await this.#running;
    } finally {
      this.#isAssigned = false;
      this.#declinesQuestions = false;
    }
    const state = this.#stateNow;
    if (!state.foreign && !needsDriving(state)) return "rested";
    return this.#isDrivenElsewhere ? "elsewhere" : "stuck";
  }

  /** This process has appended, and no driver will see it: with a placement, a worker is asked to drive. */
  callForDriver(): void {
    if (!this.#isAssigned && needsDriving(this.#stateNow)) this.#ports.wakes?.send(this.#thread.id);
  }

  /** Why this process can't drive the thread, if it would. */
  get whyBlocked(): CinchError | null {
    return this.#isAssigned ? this.#ports.modes.whyBlocked(this.#thread.state) : null;
  }

  /** While the harness closes, only to end a turn that is to be aborted. */
  get #mayDrive(): boolean {
    return !this.#isDraining || (this.#thread.state.turn?.aborting ?? false);
  }

  /** With the inputs that are due by now. */
  get #stateNow(): ThreadState {
    return progressAt(this.#thread.state, this.#ports.clock.now());
  }

  #isCalledFor(state: ThreadState, force: boolean): boolean {
    if (!this.#ports.modes.canAct(state)) return false;
    if (force) return state.turn !== null || hasQueued(state.inbox);
    return !this.#broken && (needsDriving(state) || (this.#declinesQuestions && waitsForPerson(state)));
  }

  async #driveWhenDue(force: boolean): Promise<void> {
    const { clock } = this.#ports;
    const msLeft = () => this.#standsBackUntil - clock.now();
    // While this process stands back, the other one may have accepted the next input.
    const mustWait = () => !force && !this.#closed && msLeft() > 0;
    while (mustWait()) {
      this.#standingBack = new AbortController();
      await sleep(clock, msLeft(), this.#standingBack.signal);
    }
    this.#standingBack = null;
    if (!this.#closed) await this.#drive(force);
  }

  get #block(): CinchError | null {
    const state = this.#stateNow;
    return needsDriving(state) || state.foreign ? this.#ports.modes.whyBlocked(state) : null;
  }

  /** Reports once why this process can't drive the thread. */
  #reportBlocked(blocked = this.#block): void {
    const isNew = blocked && blocked.message !== this.#reportedBlock;
    this.#reportedBlock = blocked?.message;
    if (isNew) this.#thread.report("The thread can't be driven from here", blocked);
  }

  async #drive(force: boolean): Promise<void> {
    const { agent } = this.#thread.state;
    const { threads } = this.#ports;
    const above: Thread[] = [];
    try {
      // A subagent is judged by the rules of the threads above it, which also record its end.
      for (let of = agent; of; of = above.at(-1)!.state.agent) above.push(await threads.acquire(of.owner));
      const states = above.map(({ state }) => state);
      // A newer release may have written rules that this one does not know.
      const newer = states.find(({ foreign }) => foreign !== null)?.foreign;
      if (newer) return this.#reportBlocked(newerError(newer));
      // A crash may have come between the cancellation of a run and the abort of its child. No command: it would wake this supervisor again.
      if (worksOnCancelledRun(this.#thread.state, states)) await this.#thread.append(abortRequest({ inbox: true }));
      const known = this.#lease;
      this.#lease = undefined;
      const { epoch, status } = await (known ?? this.#ports.store.lease(this.#thread.id));
      this.#isDrivenElsewhere = status === "held";
      if (status === "mine") return this.#retryLater(RETRY_MS, force);
      if (status === "held") return this.#watch(force);
      if (this.#closed || !this.#mayDrive || !this.#isCalledFor(this.#stateNow, force)) return;
      this.#driver = new Driver(this.#thread, this.#ports, {
        epoch,
        takeover: status === "dead",
        force,
        declinesQuestions: this.#declinesQuestions,
      });
      if (this.#isDraining) this.#driver.drain();
      await runTurns(this.#driver);
      this.#retryMs = RETRY_MS;
      this.#reportBlocked();
      // Another process drives. If it dies, this one continues.
      if (this.#isCalledFor(this.#stateNow, false)) this.#watch(force);
    } catch (error) {
      await this.#failed(error, force);
    } finally {
      await this.#release();
      // Not awaited: a thread stays open as long as this process drives it.
      for (const thread of above) threads.release(thread).catch(() => undefined);
    }
  }

  /** Tries until the lease is released: no other process can drive the thread while this one holds it and lives. */
  async #release(): Promise<void> {
    const driver = this.#driver;
    this.#driver = undefined;
    if (!driver) return;
    this.#releasing = driver;
    if (driver.hasDriven) this.#lastDrivenTurnId = this.#thread.state.turn?.turnId;
    for (let isReported = false; !(await this.#isReleased(driver, isReported)); isReported = true) {
      this.#hasStopped();
      await sleep(this.#ports.clock, RETRY_MS, driver.closing);
    }
    this.#releasing = undefined;
  }

  /** True also if the driver or the store is closed: a store that closes releases the leases of its process. */
  async #isReleased(driver: Driver, isReported: boolean): Promise<boolean> {
    try {
      await driver.release();
      return true;
    } catch (error) {
      if (!isReported && !this.#closed) this.#thread.report("The lease could not be released", error);
      return error instanceof LeaseLost || isClosed(error) || driver.closing.aborted;
    }
  }

  /** Handles an error of the driver: the turn ends with it. If that can't be written, subscribers and callers here get it. */
  async #failed(error: unknown, force: boolean): Promise<void> {
    if (this.#closed) return;
    if (error instanceof LeaseLost) {
      this.#isDrivenElsewhere = true;
      this.#thread.discardDraft();
      return this.#watch(force);
    }
    if (isPassing(error)) return this.#retryLater(RETRY_MS, force);
    if (this.#driver && this.#thread.state.turn) {
      try {
        await giveUp(this.#driver, error);
        this.#retryMs = RETRY_MS;
        return;
      } catch (second) {
        if (second instanceof LeaseLost) return this.#watch(force);
      }
    }
    this.#cancelRetry?.();
    this.#broken = error instanceof Error ? error : new Error(reasonOf(error));
    this.#thread.report("The turn can't continue", error);
    this.#thread.failed(error);
    // No caller of a subagent's thread could try again, and those of the threads above wait for it. A closed store stays closed.
    if (!this.#thread.state.agent || isClosed(error)) return;
    this.#retryLater(this.#retryMs, force);
    this.#retryMs = Math.min(2 * this.#retryMs, LONGEST_RETRY_MS);
  }

  #watch(force: boolean): void {
    if (!this.#closed && !this.#ports.wakes) this.#ports.watch.add(this, { force });
  }

  #retryLater(ms: number, force: boolean): void {
    if (this.#closed || this.#ports.wakes) return;
    this.#cancelRetry?.();
    this.#cancelRetry = this.#ports.clock.after(ms, () => {
      this.#cancelRetry = undefined;
      this.#broken = null;
      this.wake({ force });
    });
  }

  /** Parks a turn that was interrupted by a crash, until `resume()`. With a placement, a free lease does not show a crash. */
  async pause(): Promise<void> {
    const { state, id } = this.#thread;
    const { epoch, status } = await this.#ports.store.lease(id);
    const isInterrupted = status === "dead" || (status === "free" && !this.#ports.wakes);
    if (!state.turn || state.parked || !isInterrupted) return;
    // If another process drives by now, there is nothing to pause. If the event can't be written, opening the thread fails.
    await this.#thread.append((now) => parked(now, "the process that drove it is gone"), { take: epoch });
  }

  /** Begins no step and no call any more. Settles when those that run have ended, or after `ms`. */
  async drain(ms: number): Promise<void> {
    this.#isDraining = true;
    this.#driver?.drain();
    if (this.#stopped && ms > 0) await withTimeout(this.#ports.clock, this.#stopped.promise, { ms });
  }

  /** Stops driving. Tools get a grace period, and results that arrive in it are kept. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#ports.due.set(this, null);
    this.#ports.watch.delete(this);
    this.#stopStandingBack();
    this.#cancelRetry?.();
    this.#driver?.close();
    this.#releasing?.close();
    await this.#running;
  }
}

const isPassing = (error: unknown): boolean =>
  error instanceof CinchError && (error.code === "STORE_BUSY" || error.code === "STORE_FULL");

const isInput = ({ type }: { type: string }): boolean => type === "input_accepted";

const isAnswer = ({ type }: { type: string }): boolean => type === "tool_approval_resolved" || type === "tool_resumed";
