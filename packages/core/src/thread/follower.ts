import { CinchError } from "../errors.ts";
import { needsLease, type DurableEvent } from "../events/event-map.ts";
import type { Store } from "../ports/store.ts";
import { messageOfDraft } from "./draft.ts";
import { GRACE_MS, LiveLink, type LinkedThread } from "./live-link.ts";
import { StreamView } from "./stream-view.ts";
import type { Thread } from "./thread.ts";

/** How long to wait before new events that could not be read are read again. */
const KEEP_UP_MS = 500;
/** How often the store is asked for the driver's address while there is no link to it. */
const LOOK_UP_MS = 1_000;
/** How long to wait before a process is asked again that holds the lease and does not drive yet. Doubles each time. */
const RETRY_MS = 50;
const MOST_RETRIES = 7;
/** A link over which nothing came for so long, although the draft or the lease has changed, is not trusted. */
const SILENT_MS = 1_000;

/** How the follower changes its thread. */
interface ThreadAccess {
  /** Runs `work` when all earlier work has settled. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  ingest(events: readonly DurableEvent[]): Promise<void>;
  deleted(error: CinchError): void;
}

/**
 * Keeps an open thread up to date with what other processes do: by a link to the driver, and without one by the store's notices and the
 * draft of the message that streams.
 */
export class Follower implements LinkedThread {
  readonly #thread: Thread;
  readonly #access: ThreadAccess;
  readonly view: StreamView;
  #link: LiveLink | undefined;
  #overtakenTo = 0;
  #lookedUpAt = -Infinity;
  #isLookingUp = false;
  #mustLookAgain = false;
  /** How many links in a row have ended before they showed anything. */
  #failedLinks = 0;
  /** The events up to here are in the store, and the link is to bring them. */
  #expected = 0;
  #cancelExpect: (() => void) | undefined;
  #cancelLookUp: (() => void) | undefined;
  #unfollow: (() => void) | undefined;

  constructor(thread: Thread, access: ThreadAccess) {
    this.#thread = thread;
    this.#access = access;
    this.view = new StreamView(thread);
  }

  get id(): string {
    return this.#thread.id;
  }

  get state(): Thread["state"] {
    return this.#thread.state;
  }

  get ports(): Thread["ports"] {
    return this.#thread.ports;
  }

  get overtakenTo(): number {
    return this.#overtakenTo;
  }

  /** From now on the thread follows the store. Settles when it has everything that is there now. */
  async start(): Promise<void> {
    this.#unfollow = this.ports.store.follow(this.id, (seq, events) => this.#notified(seq, events));
    // Events that were appended between loading and following are in neither.
    await this.#catchUp();
    if (this.state.turn) this.#lookUp();
  }

  close(): void {
    this.#unfollow?.();
    this.leave();
  }

  /** This process drives the thread. */
  leave(): void {
    this.#link?.stop();
    this.#link = undefined;
    this.#cancelExpect?.();
    this.#cancelExpect = undefined;
    this.#cancelLookUp?.();
    this.#cancelLookUp = undefined;
  }

  // The store

  readonly #notified: Parameters<Store["follow"]>[1] = (seq, events) => {
    if (seq !== undefined && seq <= this.state.seq) return;
    if (!this.#link?.isTrusted) return this.#keepUp(events);
    if (seq !== undefined) return this.#expect(seq);
    if (this.#link.silentMs > SILENT_MS) this.#link.restart();
  };

  /** The link is to bring the events up to this one. If it does not, they are read. */
  #expect(seq: number): void {
    this.#expected = Math.max(this.#expected, seq);
    this.#cancelExpect ??= this.ports.clock.after(GRACE_MS, () => {
      this.#cancelExpect = undefined;
      if (this.state.seq < this.#expected) this.#link?.restart();
    });
  }

  /** Settles when all events that are in the store at the call are folded. */
  async refresh(): Promise<void> {
    await this.#catchUp();
    this.#thread.wake();
  }

  /** Refreshes after a notice of the store, which may have brought the events. Retries if the events can't be read. */
  #keepUp(events?: readonly DurableEvent[]): void {
    const folded = this.#catchUp(events).then(() => this.#thread.wake());
    folded.catch((error: unknown) => {
      if (this.#thread.isClosed) return;
      this.report("The thread could not be followed", error);
      this.#thread.later(KEEP_UP_MS, () => this.#keepUp());
    });
  }

  #catchUp(known?: readonly DurableEvent[]): Promise<void> {
    return this.exclusively(async () => {
      if (this.#thread.isClosed) return;
      try {
        const isComplete = known?.[0] !== undefined && known[0].seq <= this.state.seq + 1;
        await this.followed(isComplete ? known : await this.ports.store.read(this.id, { after: this.state.seq }));
        if (!isComplete) await this.#showDraft();
      } catch (error) {
        if (!(error instanceof CinchError) || error.code !== "THREAD_NOT_FOUND") throw error;
        this.leave();
        this.#access.deleted(error);
      }
    });
  }

  async #showDraft(): Promise<void> {
    const canBeShown = () => !this.#thread.supervisor.isAtWork && this.state.turn && !this.#link?.isTrusted;
    if (!canBeShown()) return;
    // Without the draft nothing is lost: the text comes with the message itself.
    const draft = messageOfDraft(await this.ports.store.draft(this.id).catch(() => []));
    if (draft && canBeShown()) this.view.showDraft(draft);
  }

  /** Folds events of other processes that are in the store. Must run exclusively. */
  async followed(events: readonly DurableEvent[]): Promise<void> {
    const last = events.at(-1)?.seq ?? 0;
    // Over the link they come with the live events between them.
    if (last > this.state.seq) await this.#link?.reach(last);
    const fresh = events.filter((event) => event.seq > this.state.seq);
    const ofDriver = fresh.findLast(needsLease);
    if (ofDriver) this.#overtakenTo = ofDriver.seq;
    await this.ingest(fresh);
    if (fresh.some(({ type }) => type === "agent_start")) this.#lookUp();
    else if (ofDriver || this.state.turn) this.#lookUpAtTimes();
  }

  // The link

  #lookUpAtTimes(): void {
    if (this.ports.clock.now() - this.#lookedUpAt >= LOOK_UP_MS) this.#lookUp();
  }

  /** Opens a link to the driver, if it is another process that has an address and there is no link yet. */
  #lookUp(): void {
    const { live, clock, store } = this.ports;
    const isNeeded = () => !this.#link?.isTrusted && !this.#thread.isClosed && !this.#thread.supervisor.isDriving;
    if (!live || !isNeeded()) return;
    this.#mustLookAgain = this.#isLookingUp;
    if (this.#isLookingUp) return;
    this.#isLookingUp = true;
    this.#lookedUpAt = clock.now();
    const linked = store.lease(this.id).then(({ status, address, epoch }) => {
      if (!isNeeded()) return;
      if (this.#link && status === "held" && address === this.#link.address) return;
      this.leave();
      if (status === "held" && address !== undefined) this.#link = new LiveLink(this, live, { address, epoch });
    });
    // Without a link the thread is followed by the store's notices, of which the next one looks up again.
    const settled = linked.catch(() => undefined).finally(() => (this.#isLookingUp = false));
    settled.finally(() => this.#mustLookAgain && this.#lookUp()).catch(() => undefined);
  }

  // LinkedThread

  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#access.exclusively(work);
  }

  ingest(events: readonly DurableEvent[]): Promise<void> {
    return this.#access.ingest(events);
  }

  async ingestUpTo(seq: number): Promise<void> {
    await this.ingest(await this.ports.store.read(this.id, { after: this.state.seq, upTo: seq }));
  }

  down(): void {
    this.#keepUp();
    this.#lookUpAtTimes();
  }

  ended(link: LiveLink): void {
    if (link !== this.#link) return;
    this.leave();
    this.#keepUp();
    this.#failedLinks = link.hasBeenUp ? 0 : this.#failedLinks + 1;
    if (this.#failedLinks === 0 || this.#failedLinks > MOST_RETRIES) return;
    // The process has taken the lease and not folded that yet, or has lost it.
    this.#cancelLookUp = this.ports.clock.after(RETRY_MS * 2 ** this.#failedLinks, () => this.#lookUp());
  }

  report(what: string, error: unknown): void {
    this.#thread.report(what, error);
  }
}
