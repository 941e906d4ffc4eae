import { DraftView } from "./draft.ts";
import { Driving } from "./supervisor.ts";
import { CinchError, closedError, reasonOf } from "../errors.ts";
import { readEvent } from "../events/read-event.ts";
import { stamp, type DurableEvent, type HarnessEvent, type NewEvent } from "../events/event-map.ts";
import { FoldCache } from "./fold-cache.ts";
import type { HarnessDisplayState } from "../folds/display-state.ts";
import { newFolds, type Folds } from "../folds/folds.ts";
import { LazyFold } from "../folds/lazy-fold.ts";
import { newThreadState, reduceThreadAll, type ThreadState } from "../folds/state.ts";
import { reduceTranscript, type Transcript } from "../folds/transcript.ts";
import { heldInfo, type NewLive } from "../events/live-events.ts";
import { loadFolds, loadTranscript } from "./load-folds.ts";
import { sleep } from "../ports/clock.ts";
import { Screen, type Listener } from "./live-display.ts";
import type { AppendOptions, Blob } from "../ports/store.ts";
import { needsDriving, type Decide } from "../turn/decide.ts";
import type { DriverPorts, Journal, LeaseUse } from "../turn/driver.ts";
import { Waiters } from "./turn-results.ts";

/** How long until news are looked for again that could not be read. */
const KEEP_UP_MS = 500;
/** How long an abort waits for a turn that is about to begin. */
const BEGIN_MS = 2_000;

/**
 * One thread as this process sees it: its folds, kept up to date, and those who listen. All seats at a thread in one harness share
 * it. It drives the thread whenever that has to be driven and nobody else does.
 */
export class Thread implements Journal, Folds {
  readonly id: string;
  readonly #state = new LazyFold(newThreadState, reduceThreadAll);
  /** Folded when the model is first asked from here: a thread that is only looked at does not hold it. */
  #transcript: Transcript | undefined;
  readonly #cache: FoldCache;
  readonly #screen: Screen;
  readonly ports: DriverPorts;
  readonly driving: Driving;
  readonly #draft = new DraftView();
  readonly waiters = new Waiters(() => this.#changed());
  isDeleted = false;
  #change = Promise.withResolvers<void>();
  #lock: Promise<unknown> = Promise.resolve();
  #unfollow: (() => void) | undefined;
  #closed = false;

  private constructor(id: string, ports: DriverPorts) {
    this.id = id;
    this.ports = ports;
    this.#cache = new FoldCache(id, ports);
    this.#screen = new Screen(id, ports.clock);
    this.driving = new Driving(this, ports);
  }

  get display(): HarnessDisplayState {
    return this.#screen.display;
  }

  get state(): ThreadState {
    return this.#state.value;
  }

  set state(state: ThreadState) {
    this.#state.value = state;
  }

  /** `from`: what a clone inherits, if that is folded already. */
  static async open(id: string, ports: DriverPorts, from?: Folds): Promise<Thread> {
    const thread = new Thread(id, ports);
    await thread.#load(from ?? (await thread.#cache.load()) ?? newFolds(id));
    thread.#unfollow = ports.store.follow(id, (seq = Infinity) => {
      if (seq > thread.state.seq) thread.#keepUp();
    });
    // What happened between the two is in neither.
    await thread.#catchUp();
    return thread;
  }

  async #load(from: Folds, upTo = Infinity): Promise<void> {
    const { state, display } = await loadFolds((range) => this.read(range), {
      from,
      empty: newFolds(this.id),
      upTo,
    });
    this.state = state;
    this.#screen.display = display;
    this.#cache.changed(() => this);
  }

  /** The fold that becomes the prompt, as far as `state` reaches. */
  transcript(): Promise<Transcript> {
    return this.#exclusively(async () => {
      this.#transcript ??= await loadTranscript((range) => this.read(range), this.state.seq);
      return this.#transcript;
    });
  }

  // Journal

  /** Deciding and appending are one step: if somebody was faster, the newer events are folded and the decision is made again. */
  append(decide: Decide, lease?: LeaseUse): Promise<{ kind: "appended"; epoch: number } | { kind: "refused" } | null> {
    return this.#exclusively(async () => {
      for (;;) {
        const decision = decide(this.state);
        if (!decision) return null;
        const events = decision.events.map((event) => stamp(event, this.ports.clock.now()));
        const options: AppendOptions = { afterSeq: this.state.seq, ...lease };
        if (decision.release) options.release = true;
        if (decision.blobs) options.blobs = decision.blobs;
        const result = await this.ports.store.append(this.id, events, options);
        if (result.kind === "refused") return { kind: "refused" };
        if (result.kind === "newer") {
          await this.#ingest(result.events);
          continue;
        }
        const { seq, epoch } = result;
        await this.#ingest(
          events.map(
            (event, at) => ({ ...event, seq: seq - events.length + at + 1, threadId: this.id }) as DurableEvent,
          ),
        );
        return { kind: "appended", epoch };
      }
    });
  }

  /** Appends a command, which needs no lease, and drives if that is called for. */
  async command(decide: (state: ThreadState) => NewEvent[] | null, blobs?: readonly Blob[]): Promise<void> {
    if (this.#closed) throw closedError();
    let refusal: unknown;
    let answered = false;
    const decided = (state: ThreadState) => {
      try {
        return decide(state);
      } catch (error) {
        refusal = error;
        throw error;
      }
    };
    const attempt = () =>
      this.append((state) => {
        const events = decided(state);
        answered = events?.some(isAnswer) ?? false;
        return events && { events, ...(blobs ? { blobs } : {}) };
      });
    // What the store throws is not tried again: it may have been written all the same.
    const result = await this.#decided(attempt, (error) => error === refusal);
    this.driving.mended();
    if (result?.kind === "refused")
      throw new CinchError("STORE_FAILED", "The store refused a command. This is a defect of the store.");
    this.driving.wake({ answered });
  }

  /** That nothing is to be done, or can be, is decided by what is in the journal, not by what was heard of it so far. */
  async #decided<T>(attempt: () => Promise<T | null>, isOurs: (error: unknown) => boolean): Promise<T | null> {
    const { seq } = this.state;
    const behind = async () => {
      await this.refresh();
      return this.state.seq > seq;
    };
    try {
      return (await attempt()) ?? ((await behind()) ? await attempt() : null);
    } catch (error) {
      if (!isOurs(error) || !(await behind())) throw error;
      return attempt();
    }
  }

  /** Appends a driver's event outside a turn, under a lease that is taken and let go for it. False if nothing was to be done. */
  async appendAlone(decide: (state: ThreadState) => NewEvent[] | null, blobs: readonly Blob[] = []): Promise<boolean> {
    for (;;) {
      if (this.#closed) throw closedError();
      const { epoch, status } = await this.ports.store.lease(this.id);
      if (status === "free" || status === "dead") {
        const take = (state: ThreadState) => {
          const events = decide(state);
          return events && { events, release: true, blobs };
        };
        const result = await this.append(take, { take: epoch });
        if (result?.kind !== "refused") return result !== null;
      }
      // Whoever drives may be doing what makes this needless, or what has to be stopped first.
      if (decide(this.state) === null) return false;
      await Promise.race([this.changed(), sleep(this.ports.clock, 20)]);
    }
  }

  changed(): Promise<void> {
    return this.#change.promise;
  }

  #changed(): void {
    const { resolve } = this.#change;
    this.#change = Promise.withResolvers();
    resolve();
  }

  live(event: NewLive): void {
    const { turn } = this.state;
    const at = this.ports.clock.now();
    this.emit({ ...event, threadId: this.id, at, ...(turn ? { turnId: turn.turnId } : {}) } as HarnessEvent);
  }

  emit(event: HarnessEvent): void {
    this.#screen.emit(event);
  }

  /** For sessions. A listener must not throw. */
  listen(listener: Listener): () => void {
    return this.#screen.listen(listener);
  }

  /** Events of this thread after `since`, from the store. */
  read(range: { after?: number; upTo?: number; limit?: number; last?: boolean }): Promise<DurableEvent[]> {
    return this.ports.store.read(this.id, range).then((events) => events.map(readEvent));
  }

  async #ingest(events: readonly DurableEvent[]): Promise<void> {
    const fresh = events.filter((event) => event.seq > this.state.seq);
    if (fresh.length === 0) return;
    if (fresh.some((event) => event.type === "thread_rewound")) await this.#reload(fresh);
    else for (const event of fresh) this.#fold(readEvent(event));
    this.#cache.changed(() => this);
    this.#changed();
  }

  #fold(event: DurableEvent): void {
    this.#state.add(event);
    this.#transcript &&= reduceTranscript(this.#transcript, event);
    this.emit(event as HarnessEvent);
    this.#settle(event);
  }

  /** A fold can't go back, so after a rewind everything is folded anew, and everybody is told to do the same. */
  async #reload(events: readonly DurableEvent[]): Promise<void> {
    this.#transcript = undefined;
    await this.#load(newFolds(this.id), events.at(-1)?.seq);
    for (const event of events) this.#screen.tell(event as HarnessEvent);
    this.live({ type: "resync", seq: this.state.seq, displayState: this.display });
    for (const event of events) this.#settle(event);
  }

  /** What an event means for those who wait. */
  #settle(event: DurableEvent): void {
    switch (event.type) {
      case "input_accepted": {
        const { delivery, inputId } = event;
        this.waiters.accepted(inputId);
        if (event.retry) return;
        const count = this.state.inbox.filter((item) => (item.delivery === "steer") === (delivery === "steer")).length;
        if (this.state.turn)
          this.live({ type: delivery === "steer" ? "steer_queued" : "follow_up_queued", count, inputId });
        return;
      }
      case "abort_requested":
        if (event.turnId === this.state.turn?.turnId) this.driving.abortTurn();
        return this.waiters.dropLost(this.state);
      case "input_removed":
      case "thread_rewound":
        return this.waiters.dropLost(this.state);
      case "agent_end":
        if (this.state.held) this.live(heldInfo(this.state.inbox.length));
        this.#screen.flush();
        this.waiters.turnEnded(this.state);
    }
  }

  /** Settles when no turn is under way that was under way at the call. */
  async turnEnded(): Promise<void> {
    const { turn } = this.state;
    if (turn) await this.until((state) => state.turn?.turnId !== turn.turnId);
  }

  /** Settles when it is so; rejects if the thread is closed here first, or can't be driven. */
  async reach(isSo: (state: ThreadState) => boolean): Promise<void> {
    if (!(await this.until(isSo))) throw this.driving.broken ?? closedError();
  }

  /** Settles when it is so. False if nothing is done here any more that could make it so. */
  async until(isSo: (state: ThreadState) => boolean): Promise<boolean> {
    while (!isSo(this.state)) {
      if (this.#closed || this.driving.broken) return false;
      await this.changed();
    }
    return true;
  }

  /** Settles when an input that is about to be taken has been: who aborts then means the turn that begins with it. */
  async begun(): Promise<void> {
    const until = this.ports.clock.now() + BEGIN_MS;
    const canBegin = () => !this.driving.broken && !this.#closed && this.ports.modes.canAct(this.state);
    const begins = () => !this.state.turn && needsDriving(this.state) && canBegin();
    while (begins() && this.ports.clock.now() < until)
      await Promise.race([this.changed(), sleep(this.ports.clock, 50)]);
  }

  /** Settles when nothing here depends on this thread any more: it is not driven here, and nobody waits for a turn of it. */
  async unneeded(): Promise<void> {
    while (!this.#closed && (this.driving.running || this.waiters.size > 0)) {
      await (this.driving.running ?? this.changed());
    }
  }

  // Following

  /** Settles when everything is folded that is in the store by now. */
  async refresh(): Promise<void> {
    await this.#catchUp();
    this.wake();
  }

  /** The same, for news that came by themselves: if they can't be read now, they will be. */
  #keepUp(): void {
    this.refresh().catch((error: unknown) => {
      if (this.#closed) return;
      this.report("The thread could not be followed", error);
      this.ports.clock.after(KEEP_UP_MS, () => this.#keepUp());
    });
  }

  #catchUp(): Promise<void> {
    return this.#exclusively(async () => {
      if (this.#closed) return;
      try {
        await this.#ingest(await this.ports.store.read(this.id, { after: this.state.seq }));
        if (!this.driving.running && this.state.turn) await this.#showDraft(this.state.turn.turnId);
      } catch (error) {
        if (!(error instanceof CinchError) || error.code !== "THREAD_NOT_FOUND") throw error;
        this.#deleted(error);
      }
    });
  }

  #deleted(error: CinchError): void {
    this.isDeleted = true;
    this.state = newThreadState;
    this.#stopDriving();
    this.waiters.rejectAll(error);
    this.#changed();
    this.live({ type: "thread_deleted", previousThreadId: this.id });
  }

  #stopDriving(): void {
    const stopped = this.driving.close();
    stopped.catch((failure: unknown) => this.report("The turn could not be stopped", failure));
  }

  async #showDraft(turnId: string): Promise<void> {
    // A courtesy: what can't be read now comes with the message itself.
    const pieces = await this.ports.store.draft(this.id).catch(() => []);
    if (pieces.length > 0) this.#draft.show(this, pieces, { turnId, at: this.ports.clock.now() });
  }

  // Driving

  /** Drives the thread if it has to be driven and nobody alive does. `force` also goes on with what is parked or held. */
  wake(options?: { force: boolean }): void {
    this.driving.wake(options);
  }

  report(what: string, error: unknown): void {
    this.live({ type: "info", message: `${what}: ${reasonOf(error)}` });
  }

  overtaken(): void {
    const { currentMessage } = this.display;
    if (!currentMessage) return;
    const { id: messageId, role } = currentMessage;
    this.live({ type: "message_discarded", messageId, role, reason: "Another process drives this thread." });
  }

  failed(error: unknown): void {
    this.waiters.rejectAll(error);
    this.#changed();
  }

  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#lock.then(work);
    this.#lock = result.catch(() => undefined);
    return result;
  }

  /** Stops driving and listening. What is pending stays pending, for whoever opens the thread next. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#unfollow?.();
    this.#screen.stop();
    this.#changed();
    await this.driving.close();
    this.failed(closedError());
    if (!this.isDeleted) await this.#cache.close(this);
  }
}

const isAnswer = ({ type }: NewEvent): boolean => type === "tool_approval_resolved" || type === "tool_resumed";
