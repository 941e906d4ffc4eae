import { CinchError } from "../errors.ts";
import { needsLease, type DurableEvent } from "../events/event-map.ts";
import type { Live } from "../ports/live.ts";
import type { Lease, Store } from "../ports/store.ts";
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

/** What the store has said about a change. */
interface Notice {
  seq?: number | undefined;
  events?: readonly DurableEvent[] | undefined;
}

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
  #lookAgain: { hasBegun: boolean } | undefined;
  /** A driver has just begun, and its address is being looked up. */
  #awaitsLink = false;
  /** Something has changed since then. */
  #hasMissed = false;
  /** The address of a process to which no link could be made. */
  #unreachable: string | undefined;
  /** How many links in a row have ended before they showed anything. */
  #failedLinks = 0;
  /** The events up to here are in the store, and the link is to bring them. */
  #expected = 0;
  #cancelExpect: (() => void) | undefined;
  #cancelLookUp: (() => void) | undefined;
  #unfollow: (() => void) | undefined;
  /** The last event that the store has told of while the thread was being loaded. `Infinity`: something else has changed. `null`: it is loaded. */
  #early: number | null = 0;

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

  /** Must come before the thread is loaded: the store tells of everything that is not in what is read from now on. */
  follow(): void {
    this.#unfollow = this.ports.store.follow(this.id, (seq, events) => this.#notified(seq, events));
  }

  /** The thread is loaded. Settles when it also has what the store has told of meanwhile. */
  async start(): Promise<void> {
    const isBehind = this.#early !== null && this.#early > this.state.seq;
    this.#early = null;
    if (isBehind) await this.#catchUp();
    else await this.exclusively(() => this.#showDraft());
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
    if (this.#early !== null) this.#early = Math.max(this.#early, seq ?? Infinity);
    else if (seq !== undefined && seq <= this.state.seq) return;
    else if (this.#isLinked) this.#leaveToLink(seq);
    else this.#keepUp({ seq, events });
  };

  /** The link is to bring what has changed. */
  #leaveToLink(seq: number | undefined): void {
    if (seq !== undefined) this.#expect(seq);
    else if (this.#awaitsLink) this.#hasMissed = true;
    else if (this.#link && this.#link.silentMs > SILENT_MS) this.#link.restart();
  }

  /** What the driver does comes over the link, or is about to. */
  get #isLinked(): boolean {
    return this.#awaitsLink || (this.#link?.isTrusted ?? false);
  }

  /** The link is to bring the events up to this one. If it does not, they are read. */
  #expect(seq: number): void {
    this.#expected = Math.max(this.#expected, seq);
    this.#cancelExpect ??= this.ports.clock.after(GRACE_MS, () => {
      this.#cancelExpect = undefined;
      if (this.state.seq >= this.#expected) return;
      if (this.#link?.isTrusted) this.#link.restart();
      else this.#keepUp();
    });
  }

  /** Settles when all events that are in the store at the call are folded. */
  async refresh(): Promise<void> {
    await this.#catchUp();
    this.#thread.wake();
  }

  /** Refreshes after a notice of the store, which may have brought the events. Retries if the events can't be read. */
  #keepUp(notice: Notice = {}): void {
    const folded = this.#catchUp(notice).then(() => this.#thread.wake());
    folded.catch((error: unknown) => {
      if (this.#thread.isClosed) return;
      this.report("The thread could not be followed", error);
      this.#thread.later(KEEP_UP_MS, () => this.#keepUp());
    });
  }

  #catchUp(notice?: Notice): Promise<void> {
    const known = notice?.events;
    return this.exclusively(async () => {
      if (this.#thread.isClosed) return;
      // There was none when the notice came.
      if (notice && this.#isLinked) return this.#leaveToLink(notice.seq);
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
    const canBeShown = () => !this.#thread.supervisor.isAtWork && this.state.turn && !this.#isLinked;
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
    if (fresh.some(({ type }) => type === "agent_start")) this.#lookUp({ hasBegun: true });
    else if (ofDriver || this.state.turn) this.#lookUpAtTimes();
  }

  // The link

  #lookUpAtTimes(): void {
    // The clock may have been set back.
    if (Math.abs(this.ports.clock.now() - this.#lookedUpAt) >= LOOK_UP_MS) this.#lookUp();
  }

  /** Opens a link to the driver, if it is another process that has an address and there is no link yet. */
  #lookUp({ hasBegun = false } = {}): void {
    const { live, clock, store } = this.ports;
    const isNeeded = () => !this.#link?.isTrusted && !this.#thread.isClosed && !this.#thread.supervisor.isDriving;
    if (!live || !isNeeded()) return;
    if (this.#isLookingUp) return void (this.#lookAgain = { hasBegun });
    this.#isLookingUp = true;
    this.#awaitsLink = hasBegun;
    this.#lookedUpAt = clock.now();
    const linked = store.lease(this.id).then((lease) => isNeeded() && this.#follow(live, lease, hasBegun));
    // Without a link the thread is followed by the store's notices, of which the next one looks up again.
    const settled = linked.catch(() => undefined).then(() => this.#lookedUp());
    settled.catch((error: unknown) => this.report("The driver could not be looked up", error));
  }

  #lookedUp(): void {
    this.#isLookingUp = false;
    this.#awaitsLink = false;
    const again = this.#lookAgain;
    this.#lookAgain = undefined;
    const hasMissed = this.#hasMissed || this.#expected > this.state.seq;
    this.#hasMissed = false;
    if (again) this.#lookUp(again);
    if (hasMissed && !this.#isLinked) this.#keepUp();
  }

  #follow(live: Live, { status, address, epoch }: Lease, hasBegun: boolean): void {
    const isHeld = status === "held" && address !== undefined;
    if (isHeld && address === this.#link?.address) return;
    this.leave();
    const fromStart = hasBegun && address !== this.#unreachable && !this.#thread.folds.parts.currentMessage;
    if (isHeld) this.#link = new LiveLink(this, live, { address, epoch, fromStart });
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

  up(link: LiveLink): void {
    this.#failedLinks = 0;
    if (link.address === this.#unreachable) this.#unreachable = undefined;
  }

  down(link: LiveLink): void {
    if (!link.hasBeenUp) this.#unreachable = link.address;
    this.#keepUp();
    this.#lookUpAtTimes();
  }

  ended(link: LiveLink): void {
    if (link !== this.#link) return;
    this.leave();
    this.#keepUp();
    if (link.hasBeenUp || ++this.#failedLinks > MOST_RETRIES) return;
    // The process has taken the lease and not folded that yet, or has lost it.
    this.#cancelLookUp = this.ports.clock.after(RETRY_MS * 2 ** this.#failedLinks, () => this.#lookUp());
  }

  wake(): void {
    this.#thread.wake();
  }

  report(what: string, error: unknown): void {
    this.#thread.report(what, error);
  }
}
