import { appendAlone } from "./append-alone.ts";
import { AppendQueue } from "./append-queue.ts";
import { Children } from "./children.ts";
import { DescendantEvents } from "./descendant-events.ts";
import { Supervisor } from "./supervisor.ts";
import { CinchError, closedError, reasonOf } from "../errors.ts";
import { readEvent } from "../events/read-event.ts";
import type { DurableEvent, HarnessEvent } from "../events/event-map.ts";
import { FoldCache } from "./fold-cache.ts";
import { Follower } from "./follower.ts";
import type { HarnessDisplayState } from "../folds/display-state.ts";
import { seqOf } from "../config/run-id.ts";
import { newFolds, type Folds, type Inherited } from "../folds/folds.ts";
import { LazyFold } from "../folds/lazy-fold.ts";
import { newThreadState, reduceThreadAll, type ThreadState } from "../folds/state.ts";
import type { Transcript } from "../folds/transcript.ts";
import type { NewLive } from "../events/live-events.ts";
import { loadFolds } from "./load-folds.ts";
import { sleep } from "../ports/clock.ts";
import { LiveDisplay } from "./live-display.ts";
import { LiveFeed } from "./live-feed.ts";
import { asOutcome } from "./command-outcome.ts";
import { deliver, type Subscriber } from "./subscriber.ts";
import type { AgentModes } from "../config/agent-modes.ts";
import type { Appended, Decide } from "../turn/decide.ts";
import type { PolicyLevels } from "../permissions/gate.ts";
import { ancestorsOf, type DriverPorts, type Journal, type LeaseUse } from "../turn/driver.ts";
import { MemoryJobs } from "./memory-jobs.ts";
import { OwedWork } from "./owed-work.ts";
import { findModes } from "./thread-modes.ts";
import { ThreadTranscript } from "./thread-transcript.ts";
import { dropsInputs, settleEvent } from "./settle-event.ts";
import { TreePolicies } from "./tree-policies.ts";
import { TurnResults } from "./turn-results.ts";

/** A reason costs less than the exception that `abort()` makes without one. */
const CLOSED = "closed";
/**
 * An open thread in this process: its folds, kept up to date with the journal, its subscribers, and its supervisor. All sessions of a
 * harness that are at the same thread share it.
 */
export class Thread implements Journal {
  readonly id: string;
  readonly #state = new LazyFold(newThreadState, reduceThreadAll);
  readonly #transcript = new ThreadTranscript();
  readonly #cache: FoldCache;
  readonly #display: LiveDisplay;
  /** The subscribers of all sessions at this thread. */
  readonly subscribers = new Set<Subscriber>();
  readonly #onDeleted = new Set<() => void>();
  readonly ports: DriverPorts;
  readonly supervisor: Supervisor;
  /** For readers in other processes, while this one drives. */
  readonly feed = new LiveFeed(this);
  readonly #follower: Follower;
  readonly #appends: AppendQueue;
  /** The commands that are not answered yet. The thread may have to be driven after each. */
  readonly #commands = new Set<Promise<unknown>>();
  readonly children = new Children(this);
  readonly owed = new OwedWork(this);
  readonly descendantEvents = new DescendantEvents(this);
  readonly results = new TurnResults(() => this.wakeWaiters());
  readonly memoryJobs = new MemoryJobs(this);
  readonly #policies = new TreePolicies();
  isDeleted = false;
  #change = Promise.withResolvers<void>();
  #lock: Promise<unknown> = Promise.resolve();
  readonly #closing = new AbortController();

  private constructor(id: string, ports: DriverPorts) {
    this.id = id;
    this.ports = ports;
    this.#cache = new FoldCache(id, ports);
    this.#display = new LiveDisplay(id, {
      clock: ports.clock,
      progress: () => this.state,
      announce: (event) => this.#deliver(event),
    });
    this.supervisor = new Supervisor(this, ports);
    this.#follower = new Follower(this, {
      exclusively: (work) => this.#exclusively(work),
      ingest: (events) => this.#ingest(events, "followed"),
      deleted: (error) => this.#deleted(error),
    });
    this.#appends = new AppendQueue(this, {
      exclusively: (work) => this.#exclusively(work),
      appended: (events, after, epoch) => this.#appended(events, after, epoch),
      followed: (events) => this.#follower.followed(events),
    });
  }

  get display(): HarnessDisplayState {
    return this.#display.state;
  }

  get state(): ThreadState {
    return this.#state.value;
  }

  set state(state: ThreadState) {
    this.#state.value = state;
  }

  get folds(): Folds {
    return { state: this.state, parts: this.#display.parts };
  }

  /** `from`: what a clone inherits, if its source is open here. */
  static async open(id: string, host: { ports: DriverPorts; modes: AgentModes }, from?: Inherited): Promise<Thread> {
    const ports = { ...host.ports };
    const thread = new Thread(id, ports);
    thread.#transcript.inherit(from?.transcript, from?.state.seq ?? 0);
    thread.#follower.follow();
    try {
      await thread.#load(from ?? (await thread.#cache.load()) ?? newFolds(id));
      await findModes(thread, host.modes);
      await thread.#follower.start();
    } catch (error) {
      thread.#follower.close();
      throw error;
    }
    thread.children.changed();
    return thread;
  }

  async #load(from: Folds, upTo = Infinity): Promise<void> {
    const { state, parts } = await loadFolds((range) => this.read(range), {
      from,
      empty: newFolds(this.id),
      upTo,
    });
    this.state = state;
    // A thread that has not set YOLO has that of this harness, which need not be the one that created the thread.
    const yolo = state.agent ? parts.yolo : (state.control.policies.yolo ?? this.ports.shape.yolo);
    this.#display.parts = yolo === parts.yolo ? parts : { ...parts, yolo };
    this.#cache.changed(this);
  }

  /** The fold that becomes the prompt, as far as `state` reaches. */
  transcript(): Promise<Transcript> {
    return this.#exclusively(() => this.#transcript.load((range) => this.read(range), this.state));
  }

  get policies(): PolicyLevels {
    return this.#policies.of([...ancestorsOf(this.state.agent, this.ports.threads), this]);
  }

  // Journal

  keepForFork(runId: string): void {
    if (this.state.seq === seqOf(runId))
      this.children.forks.set(runId, { ...this.folds, transcript: this.#transcript.value });
  }

  append<Result>(decide: Decide<Result>, lease?: LeaseUse): Promise<Appended<Result>> {
    return this.#appends.append(decide, lease);
  }

  /** Appends a command, which needs no lease, and drives the thread if necessary. A decision refuses by throwing. */
  async command<Result>(decide: Decide<Result>): Promise<Result | undefined> {
    if (this.isClosed) throw closedError();
    const done = this.#command(decide);
    this.#commands.add(done);
    return done.finally(() => this.#commands.delete(done));
  }

  async #command<Result>(decide: Decide<Result>): Promise<Result | undefined> {
    const { seq } = this.state;
    let appended = await this.append(asOutcome(decide));
    // The journal decides that there is nothing to do, or that a command is refused; this process may not have read all of it.
    if (appended.kind === "nothing") {
      await this.refresh();
      if (this.state.seq > seq) appended = await this.append(asOutcome(decide));
    }
    if (appended.kind === "refused")
      throw new CinchError("STORE_FAILED", "The store refused a command. This is a defect of the store.");
    if (appended.result && "refusal" in appended.result) throw appended.result.refusal;
    this.supervisor.clearFailure();
    this.supervisor.wake();
    if (appended.kind === "appended" && !appended.driven) this.supervisor.callForDriver();
    return appended.result?.value;
  }

  /** Appends a driver's event outside a turn, under a lease that is acquired and released for it. False if there was nothing to append. */
  appendAlone(decide: Decide): Promise<boolean> {
    return appendAlone(this, decide);
  }

  changed(): Promise<void> {
    return this.#change.promise;
  }

  /** Settles `changed()`: the state, or that of a child, is another one. */
  wakeWaiters(): void {
    const { resolve } = this.#change;
    this.#change = Promise.withResolvers();
    resolve();
  }

  live(event: NewLive): void {
    this.emit(this.#stamped(event));
  }

  emit(event: HarnessEvent): void {
    this.#show(event);
    this.feed.push(event);
  }

  /** Emits a live event that follows from the journal: each process that has the thread open emits it itself. */
  derived(event: NewLive): void {
    this.#show(this.#stamped(event));
  }

  #stamped(event: NewLive): HarnessEvent {
    const { turn } = this.state;
    const at = this.ports.clock.now();
    return { ...event, threadId: this.id, at, ...(turn ? { turnId: turn.turnId } : {}) } as HarnessEvent;
  }

  #show(event: HarnessEvent): void {
    this.#display.add(event);
    this.#deliver(event);
  }

  #deliver(event: HarnessEvent): void {
    deliver(event, this.subscribers);
  }

  /** Calls back once if the thread is deleted. Returns a function that unsubscribes. */
  onDeleted(callback: () => void): () => void {
    this.#onDeleted.add(callback);
    return () => void this.#onDeleted.delete(callback);
  }

  /** The events in this range, from the store. */
  read(range: { after?: number; upTo?: number; limit?: number; last?: boolean }): Promise<DurableEvent[]> {
    return this.ports.store.read(this.id, range).then((events) => events.map(readEvent));
  }

  /** `after`: the state that the events fold to. `epoch`: of the lease under which they were appended. */
  #appended(events: readonly DurableEvent[], after: ThreadState, epoch?: number): Promise<void> {
    if (epoch !== undefined) {
      this.#follower.leave();
      this.feed.begin(epoch);
      this.supervisor.begun();
    }
    this.#state.expect(events, after);
    this.owed.appended(events, after);
    return this.#ingest(events, "appended");
  }

  /** `appended`: by this process. `followed`: by another one. */
  async #ingest(events: readonly DurableEvent[], how: "appended" | "followed"): Promise<void> {
    const fresh = events.filter((event) => event.seq > this.state.seq);
    if (fresh.length === 0) return;
    if (how === "followed") this.feed.followed(fresh);
    if (fresh.some((event) => event.type === "thread_rewound")) await this.#reload(fresh);
    else for (const event of fresh) this.#fold(how === "appended" ? event : this.#fromElsewhere(event));
    this.supervisor[how](fresh);
    this.#cache.changed(this);
    this.wakeWaiters();
    this.children.changed();
  }

  #fromElsewhere(event: DurableEvent): DurableEvent {
    // The driver before this one may have streamed more than its draft has.
    if (event.type === "agent_start" && this.#display.parts.currentMessage) this.discardDraft();
    return readEvent(event);
  }

  #fold(event: DurableEvent): void {
    this.#state.add(event);
    this.#transcript.add(event);
    this.emit(event as HarnessEvent);
    this.#settle(event);
  }

  #settle(event: DurableEvent): void {
    settleEvent(this, event);
    if (event.type === "agent_end") this.#display.flush();
  }

  /** Events can't be removed from a fold: after a rewind the journal is folded again, and subscribers get a `resync`. */
  async #reload(events: readonly DurableEvent[]): Promise<void> {
    this.#transcript.clear();
    await this.#load(newFolds(this.id), events.at(-1)?.seq);
    for (const event of events as HarnessEvent[]) {
      this.#deliver(event);
      this.feed.push(event);
    }
    // What is pending in children that go on is not in this journal.
    for (const child of this.children.introductions()) this.#display.add(this.#stamped(child));
    this.derived({ type: "resync", seq: this.state.seq, displayState: this.display });
    // By the state after the rewind, the input of a turn that has ended looks dropped. The rewind asks the journal what became of it.
    for (const event of events) if (!dropsInputs(event)) this.#settle(event);
  }

  /** Settles when the condition holds; rejects if the thread is closed here first, or can't be driven. */
  async reach(condition: (state: ThreadState) => boolean): Promise<void> {
    if (!(await this.until(condition))) throw this.supervisor.broken ?? closedError();
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Calls back once, after `ms`, unless the thread is closed here first. */
  later(ms: number, callback: () => void): void {
    const slept = sleep(this.ports.clock, ms, this.#closing.signal).then(() => this.isClosed || callback());
    slept.catch((error: unknown) => this.report("A retry failed", error));
  }

  /** Settles with true when the condition holds, and with false if the thread is closed here first, or can't be driven. */
  async until(condition: (state: ThreadState) => boolean): Promise<boolean> {
    while (!condition(this.state)) {
      if (this.isClosed || this.supervisor.broken) return false;
      await this.changed();
    }
    return true;
  }

  /** Settles when this process neither works on the thread nor has a caller that waits for a turn of it. */
  async unneeded(): Promise<void> {
    while (!this.isClosed && this.#isNeeded) {
      const [command] = this.#commands;
      await (this.supervisor.running ?? command?.catch(() => undefined) ?? this.changed());
    }
  }

  get #isNeeded(): boolean {
    const isWorking = this.supervisor.running !== undefined || this.memoryJobs.size > 0;
    return isWorking || this.#commands.size > 0 || this.results.size > 0 || this.children.isReporting;
  }

  /** Settles when all events that are in the store at the call are folded. */
  refresh(): Promise<void> {
    return this.#follower.refresh();
  }

  #deleted(error: CinchError): void {
    this.isDeleted = true;
    this.state = newThreadState;
    this.memoryJobs.close();
    this.#stopDriving();
    this.results.rejectAll(error);
    this.wakeWaiters();
    this.feed.end();
    this.derived({ type: "thread_deleted", previousThreadId: this.id });
    for (const callback of Array.from(this.#onDeleted)) callback();
  }

  #stopDriving(): void {
    const stopped = this.supervisor.close();
    stopped.catch((failure: unknown) => this.report("The turn could not be stopped", failure));
  }

  // Supervisor

  /** Drives the thread if it needs a driver and has none. `force` also continues a parked turn, and takes held inputs. */
  wake(options?: { force: boolean }): void {
    this.supervisor.wake(options);
  }

  report(what: string, error: unknown): void {
    this.live({ type: "info", message: `${what}: ${reasonOf(error)}` });
  }

  discardDraft(): void {
    const { currentMessage } = this.display;
    if (!currentMessage) return;
    const { id: messageId, role } = currentMessage;
    this.live({ type: "message_discarded", messageId, role, reason: "Another process drives this thread." });
  }

  failed(error: unknown): void {
    this.results.rejectAll(error);
    this.wakeWaiters();
  }

  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#lock.then(work);
    this.#lock = result.catch(() => undefined);
    return result;
  }

  /** Stops driving and following the thread. Pending calls stay pending, and are there when the thread is opened again. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.#closing.abort(CLOSED);
    this.#follower.close();
    this.children.close();
    this.memoryJobs.close();
    this.wakeWaiters();
    await this.supervisor.close();
    this.feed.end();
    this.#display.close();
    this.failed(closedError());
    if (!this.isDeleted) await this.#cache.close(this);
  }
}
