import { CinchError, reasonOf } from "../errors.ts";
import type { ThreadState } from "../folds/state.ts";
import { sleep } from "../ports/clock.ts";
import { needsDriving, waitsForPerson } from "../turn/decide.ts";
import { Driver, LeaseLost, type DriverPorts, type Journal } from "../turn/driver.ts";
import { giveUp, parked, runTurns } from "../turn/turn.ts";

/** How often a seat looks whether the driver of its thread is still alive. */
const WATCH_MS = 1_000;
/** How long a process that has answered a call leaves it to the process that asked, if that is alive. */
const STAND_BACK_MS = 250;

export interface SupervisedThread extends Journal {
  report(what: string, error: unknown): void;
  /** Somebody else drives: what was said here since is not part of the conversation. */
  discardDraft(): void;
  /** The thread can't be driven from here: nobody need wait any longer. */
  failed(error: unknown): void;
}

/** Sees to it that a thread is driven: from here, if it has to be driven and nobody alive does; otherwise it stands by. */
export class Supervisor {
  readonly #thread: SupervisedThread;
  readonly #ports: DriverPorts;
  #driver: Driver | undefined;
  #running: Promise<void> | undefined;
  #again: { force: boolean } | undefined;
  #unwatch: (() => void) | undefined;
  #told: string | undefined;
  /** A lease of ours that the store would not take back. */
  #unreleased: number | undefined;
  /** The store failed under the driver: trying again by ourselves would only fill the journal. */
  #broken: Error | null = null;
  readonly #closing = new AbortController();
  /** The turn that was last driven from here. */
  #drove: string | undefined;
  #declines = false;

  constructor(thread: SupervisedThread, ports: DriverPorts) {
    this.#thread = thread;
    this.#ports = ports;
  }

  /** Settles when what runs here now has stopped. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  get broken(): Error | null {
    return this.#broken;
  }

  /** Somebody has asked for something: what failed before may work now. */
  clearFailure(): void {
    this.#broken = null;
  }

  /** Whether what waits for a person here is declined. */
  get declines(): boolean {
    return this.#declines;
  }

  get #closed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** A session sits here. With `onAsk: "decline"`, what waits for a person is declined from now on. */
  seated(): void {
    this.#declines = this.#ports.modes.declines;
    this.wake();
  }

  abortTurn(): void {
    this.#driver?.abortTurn();
  }

  /** `force` also goes on with what is parked or held. `answered`: a call was answered from here. */
  wake({ force = false, answered = false } = {}): void {
    if (this.#closed) return;
    if (!this.#isCalledFor(this.#thread.state, force)) return this.#reportBlocked();
    if (this.#running) {
      this.#again = { force: force || (this.#again?.force ?? false) };
      return;
    }
    const turnId = answered ? this.#thread.state.turn?.turnId : undefined;
    this.#running = this.#driveAfter(turnId, force).finally(() => {
      this.#running = undefined;
      const again = this.#again;
      this.#again = undefined;
      if (again) this.wake(again);
    });
  }

  #isCalledFor(state: ThreadState, force: boolean): boolean {
    if (!this.#ports.modes.canAct(state)) return false;
    if (force) return state.turn !== null || state.inbox.length > 0;
    return !this.#broken && (needsDriving(state) || (this.#declines && waitsForPerson(state)));
  }

  /**
   * A process that only answers may be gone in the next moment, and what it has begun would be cut off. So the process that asked
   * goes first: it knows the turn, and is likely to stay.
   */
  async #driveAfter(answered: string | undefined, force: boolean): Promise<void> {
    if (answered !== undefined && answered !== this.#drove)
      await sleep(this.#ports.clock, STAND_BACK_MS, this.#closing.signal);
    if (!this.#closed) await this.#drive(force);
  }

  /** Told once, however often it is in the way. */
  #reportBlocked(): void {
    const { state } = this.#thread;
    const blocked = needsDriving(state) ? this.#ports.modes.whyBlocked(state) : null;
    const isNew = blocked && blocked.message !== this.#told;
    this.#told = blocked?.message;
    if (isNew) this.#thread.report("The thread can't be driven from here", blocked);
  }

  async #drive(force: boolean): Promise<void> {
    try {
      const { epoch, status } = await this.#ports.store.lease(this.#thread.id);
      if (status === "mine" && epoch === this.#unreleased) return await this.#releaseLate(epoch, force);
      if (status === "held" || status === "mine") return this.#watch(force);
      if (this.#closed || !this.#isCalledFor(this.#thread.state, force)) return;
      this.#driver = new Driver(this.#thread, this.#ports, {
        epoch,
        takeover: status === "dead",
        force,
        declines: this.#declines,
      });
      await runTurns(this.#driver);
      this.#reportBlocked();
      // Somebody was faster: should they die, it is our turn.
      if (this.#isCalledFor(this.#thread.state, false)) this.#watch(force);
    } catch (error) {
      await this.#stopped(error, force);
    } finally {
      await this.#release();
    }
  }

  async #release(): Promise<void> {
    const driver = this.#driver;
    this.#driver = undefined;
    if (driver?.hasDriven) this.#drove = this.#thread.state.turn?.turnId;
    try {
      await driver?.release();
    } catch (error) {
      this.#unreleased = driver?.epoch;
      this.#thread.report("The lease could not be released", error);
    }
  }

  async #releaseLate(epoch: number, force: boolean): Promise<void> {
    await this.#ports.store.release(this.#thread.id, epoch);
    this.#unreleased = undefined;
    this.#again = { force };
  }

  /** What makes a driver stop in the middle. The turn ends with the error; if that can't be written, everybody is told here. */
  async #stopped(error: unknown, force: boolean): Promise<void> {
    if (this.#closed) return;
    if (error instanceof LeaseLost) this.#thread.discardDraft();
    if (error instanceof LeaseLost || isPassing(error)) return this.#watch(force);
    if (this.#driver && this.#thread.state.turn) {
      try {
        return await giveUp(this.#driver, error);
      } catch (second) {
        if (second instanceof LeaseLost) return this.#watch(force);
      }
    }
    this.#broken = error instanceof Error ? error : new Error(reasonOf(error));
    this.#thread.report("The turn can't go on", error);
    this.#thread.failed(error);
  }

  /** Stands by: should the driver die, this process goes on. */
  #watch(force: boolean): void {
    if (this.#closed) return;
    this.#unwatch?.();
    this.#unwatch = this.#ports.clock.after(WATCH_MS, () => {
      this.#unwatch = undefined;
      this.wake({ force });
    });
  }

  /** A turn that was cut off stands still until `resume()`. */
  async pause(): Promise<void> {
    const { state, id } = this.#thread;
    const { epoch, status } = await this.#ports.store.lease(id);
    if (!state.turn || state.parked || (status !== "free" && status !== "dead")) return;
    // Somebody may be faster and drive: then there is nothing to pause. And whoever opens the thread is told if it can't be written.
    await this.#thread.append((now) => parked(now, "the process that drove it is gone"), { take: epoch });
  }

  /** Stops driving. Tools are given a moment to stop; what they finish in it is kept. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#unwatch?.();
    this.#driver?.close();
    await this.#running;
  }
}

const isPassing = (error: unknown): boolean =>
  error instanceof CinchError && (error.code === "STORE_BUSY" || error.code === "STORE_FULL");
