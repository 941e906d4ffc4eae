import { answerSuspension, type SuspensionAnswer } from "./answers.ts";
import { CinchError } from "./errors.ts";
import { stamp, type Delivery, type HarnessEvent, type NewEvent } from "./events.ts";
import { newDisplayState, type HarnessDisplayState, type HarnessMessage } from "./folds/display-state.ts";
import type { InboxItem } from "./folds/inbox.ts";
import { messagesOf, outcomeOf } from "./history.ts";
import { accept, acceptedInput, checkContent, refuseForeign, type Input } from "./input.ts";
import type { Usage } from "./message.ts";
import type { Ids } from "./ports.ts";
import type { ThreadRegistry } from "./registry.ts";
import { checkSeq, rewindThread, type RewindOptions, type RewindResult } from "./rewind.ts";
import type { Store, ThreadQuery, ThreadRecord } from "./store.ts";
import { EventQueue, resyncOf, Subscriber } from "./subscription.ts";
import { closedError, type Folds, type Listener, type Thread } from "./thread.ts";
import type { TurnResult } from "./waiters.ts";

export interface SessionPorts {
  store: Store;
  registry: ThreadRegistry;
  ids: Ids;
  now(): number;
  /** Settles when the store is open. */
  ready(): Promise<void>;
  left(session: Session): void;
}

/**
 * One seat at a thread: what a person or a program holds in its hands. Commands are accepted in the order of the calls, awaited or
 * not, for the thread that was current at the call; each settles when it is durable.
 */
export class Session {
  readonly resourceId: string;
  readonly #ports: SessionPorts;
  readonly #subscribers = new Set<Subscriber>();
  readonly #queues = new Set<EventQueue>();
  #thread: Thread | null = null;
  #unlisten: (() => void) | undefined;
  #commands: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(ports: SessionPorts, resourceId: string) {
    this.#ports = ports;
    this.resourceId = resourceId;
  }

  // Events

  /** Calls back for every event of the current thread, and of those that it is switched to. `since`: first what came after it. */
  subscribe(listener: Listener, { since }: { since?: number } = {}): () => void {
    const report = (what: string) => (error: unknown) =>
      this.#thread?.live({
        type: "info",
        message: `${what}: ${error instanceof Error ? error.message : String(error)}`,
      });
    const subscriber = new Subscriber(listener, report("A subscriber threw"));
    this.#subscribers.add(subscriber);
    if (since !== undefined && this.#thread) {
      subscriber.replay(this.#thread, since).catch(report("Events could not be replayed"));
    }
    return () => {
      this.#subscribers.delete(subscriber);
      subscriber.stop();
    };
  }

  /** The same as an iterable, for a reader with its own pace. Ends with the session, or when the signal says so. */
  events({ since, signal }: { since?: number; signal?: AbortSignal } = {}): AsyncGenerator<
    HarnessEvent,
    void,
    undefined
  > {
    const queue = new EventQueue(() => this.#thread && resyncOf(this.#thread, this.#ports.now()));
    const off = this.subscribe((event) => queue.push(event), since === undefined ? {} : { since });
    const end = () => queue.end();
    signal?.addEventListener("abort", end);
    this.#queues.add(queue);
    if (this.#closed || signal?.aborted) end();
    const left = () => {
      off();
      this.#queues.delete(queue);
      signal?.removeEventListener("abort", end);
    };
    return readerOf(queue, left);
  }

  /** A snapshot that never changes. The same object as before if nothing has happened. */
  getDisplayState(): HarnessDisplayState {
    return this.#thread?.display ?? noThread;
  }

  getTokenUsage(): Usage {
    return this.getDisplayState().tokenUsage;
  }

  getCurrentThreadId(): string | null {
    return this.#thread?.id ?? null;
  }

  /** For the harness: tells those who listen here what is not about a thread. */
  inform(message: string): void {
    this.#relay({ type: "info", threadId: this.#thread?.id ?? "", at: this.#ports.now(), message });
  }

  #relay = (event: HarnessEvent): void => {
    // A copy: who subscribes while being told of this event has it in their past already.
    for (const subscriber of Array.from(this.#subscribers)) subscriber.push(event);
    if (event.type === "thread_deleted") this.#sit(null);
  };

  // Input

  /** Settles when the turn that takes the message has ended. A turn that failed is a result too: `reason: "error"`. */
  async sendMessage(input: Input): Promise<TurnResult> {
    // The turn is waited for outside of the order of commands: others may come meanwhile.
    const { turn } = await this.#command(async (thread) => {
      const { event, blobs } = await this.#accepted(input, "send");
      const waiter = thread.waiters.add(event.inputId);
      try {
        const isNew = await accept(thread, event, blobs);
        const settled = isNew ? undefined : await outcomeOf(thread, event.inputId);
        if (settled) waiter.cancel();
        return { turn: settled ? Promise.resolve(settled) : waiter.result };
      } catch (error) {
        waiter.cancel();
        throw error;
      }
    });
    return turn;
  }

  async post({ delivery, ...input }: Input & { delivery: Delivery }): Promise<{ inputId: string }> {
    if (delivery !== "send" && delivery !== "steer" && delivery !== "follow_up") {
      throw new CinchError(
        "INVALID_INPUT",
        `delivery is "send", "steer" or "follow_up", not ${JSON.stringify(delivery)}.`,
      );
    }
    return this.#command(async (thread) => {
      const { event, blobs } = await this.#accepted(input, delivery);
      await accept(thread, event, blobs);
      return { inputId: event.inputId };
    });
  }

  /** Into the running turn, at its next safe point. */
  steer(input: Input): Promise<{ inputId: string }> {
    return this.post({ ...input, delivery: "steer" });
  }

  /** A turn of its own, after this one. */
  followUp(input: Input): Promise<{ inputId: string }> {
    return this.post({ ...input, delivery: "follow_up" });
  }

  #accepted(input: Input, delivery: Delivery) {
    return acceptedInput(input, delivery, () => this.#ports.ids("input"));
  }

  listInbox(): Promise<readonly InboxItem[]> {
    return this.#command(async (thread) => thread.state.inbox);
  }

  async editInput({ inputId, content }: { inputId: string; content: string }): Promise<void> {
    checkContent(content);
    return this.#queued(inputId, { type: "input_edited", inputId, content: content.toWellFormed() });
  }

  removeInput({ inputId }: { inputId: string }): Promise<void> {
    return this.#queued(inputId, { type: "input_removed", inputId });
  }

  #queued(inputId: string, event: NewEvent): Promise<void> {
    return this.#command((thread) =>
      thread.command(({ inbox }) => {
        if (inbox.some((item) => item.inputId === inputId)) return [event];
        throw new CinchError(
          "NOT_PENDING",
          `Input "${inputId}" is not queued: it was taken or removed. listInbox() shows what is.`,
        );
      }),
    );
  }

  /** Ends the turn. Queued inputs stay and wait for the next one, or for `resume()`; with `inbox` they are dropped too. */
  async abort({ inbox = false }: { inbox?: boolean } = {}): Promise<void> {
    const thread = await this.#command(async (current) => {
      await current.begun();
      await current.command(({ turn, inbox: queued }) => {
        const drop = inbox ? { inbox } : {};
        if (turn) return turn.aborting && !inbox ? null : [{ type: "abort_requested", turnId: turn.turnId, ...drop }];
        return inbox && queued.length > 0 ? [{ type: "abort_requested", inbox }] : null;
      });
      return current;
    });
    await thread.turnEnded();
  }

  /** Goes on with what is parked or queued. Otherwise nothing happens. */
  resume(): Promise<void> {
    return this.#command(async (thread) => {
      refuseForeign(thread.state.foreign);
      const { turn, parked, held, inbox } = thread.state;
      if (turn ? parked : held && inbox.length > 0) thread.wake({ force: true });
    });
  }

  /** Gives a suspended call what it waits for. */
  respondToToolSuspension(answer: SuspensionAnswer): Promise<void> {
    return this.#command((thread) => answerSuspension(thread, answer), answer.threadId);
  }

  // Threads

  createThread({ title = "" }: { title?: string } = {}): Promise<ThreadRecord> {
    return this.#ordered(() => this.#create(title));
  }

  /** The newest thread of the resource that is not a subagent's, or a new one. */
  selectOrCreateThread(): Promise<ThreadRecord> {
    return this.#ordered(() => this.#select());
  }

  switchThread({ threadId }: { threadId: string }): Promise<ThreadRecord> {
    return this.#ordered(async () => {
      await this.#enter(threadId);
      return this.#record(threadId);
    });
  }

  async renameThread({ title }: { title: string }): Promise<void> {
    if (typeof title !== "string") throw new CinchError("INVALID_INPUT", "title must be a string.");
    return this.#command((thread) => thread.command(() => [{ type: "thread_renamed", title }]));
  }

  deleteThread({ threadId }: { threadId: string }): Promise<void> {
    return this.#ordered(() => this.#ports.store.deleteThread(threadId));
  }

  /** A thread that begins as this one was at `atSeq`, and goes on under its own id. It becomes the current one. */
  cloneThread({
    sourceThreadId,
    atSeq,
    title,
  }: { sourceThreadId?: string; atSeq?: number; title?: string } = {}): Promise<ThreadRecord> {
    const clone = async (source: Thread) => {
      const { state, transcript, display } = source;
      const seq = atSeq ?? state.seq;
      checkSeq("atSeq", seq, state.seq);
      const id = this.#ports.ids("thread");
      const parent = { threadId: source.id, seq };
      const event = { type: "thread_cloned" as const, title: title ?? state.title, parent, rules: [], state: {} };
      await this.#ports.store.append(id, [stamp(event, this.#ports.now())], { afterSeq: seq });
      await this.#enter(id, seq === state.seq ? { state, transcript, display } : undefined);
      return this.#record(id);
    };
    return this.#command(clone, sourceThreadId);
  }

  listThreads(query: Pick<ThreadQuery, "resourceId" | "query" | "limit" | "before"> = {}): Promise<ThreadRecord[]> {
    return this.#ordered(() =>
      this.#ports.store.threads({ limit: 50, ...query, resourceId: query.resourceId ?? this.resourceId }),
    );
  }

  /** Takes the conversation back to `toSeq`. Events up to there stay in force, and the journal keeps the rest. */
  rewind(options: RewindOptions): Promise<RewindResult> {
    return this.#command((thread) => rewindThread(thread, options));
  }

  /** A page of messages, oldest first: the newest, or those before the event `before`. */
  listMessages(page: { limit?: number; before?: number } = {}): Promise<HarnessMessage[]> {
    return this.#command((thread) => messagesOf(thread, page));
  }

  // Seat

  /** Leaves. What is pending stays pending; the turn goes on if this process drives it. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#commands;
    for (const queue of this.#queues) queue.end();
    this.#subscribers.clear();
    const thread = this.#thread;
    this.#unlisten?.();
    this.#thread = null;
    this.#ports.left(this);
    // The seat is free at once; the thread stays open for as long as it is driven here.
    if (thread) this.#ports.registry.release(thread.id).catch(() => undefined);
  }

  /** For the harness, which closes its threads itself and does not wait for the turns in them. */
  abandon(): void {
    this.#closed = true;
    for (const queue of this.#queues) queue.end();
    this.#subscribers.clear();
  }

  #command<T>(work: (thread: Thread) => Promise<T>, threadId = this.#thread?.id): Promise<T> {
    return this.#ordered(async () => {
      const id = threadId ?? this.#thread?.id ?? (await this.#select()).id;
      if (this.#thread?.id === id) return work(this.#thread);
      return this.#ports.registry.visit(id, work);
    });
  }

  #ordered<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#commands.then(async () => {
      if (this.#closed) throw closedError();
      await this.#ports.ready();
      return work();
    });
    this.#commands = result.catch(() => undefined);
    return result;
  }

  async #select(): Promise<ThreadRecord> {
    const [newest] = await this.#ports.store.threads({ resourceId: this.resourceId, topLevel: true, limit: 1 });
    if (!newest) return this.#create("");
    if (this.#thread?.id !== newest.id) await this.#enter(newest.id);
    return newest;
  }

  async #create(title: string): Promise<ThreadRecord> {
    const id = this.#ports.ids("thread");
    const event = { type: "thread_created" as const, title, resourceId: this.resourceId };
    await this.#ports.store.append(id, [stamp(event, this.#ports.now())], { afterSeq: 0 });
    await this.#enter(id);
    return this.#record(id);
  }

  async #record(threadId: string): Promise<ThreadRecord> {
    return (await this.#ports.store.thread(threadId))!;
  }

  async #enter(threadId: string, from?: Folds): Promise<void> {
    if (this.#thread?.id === threadId) return;
    const next = await this.#ports.registry.acquire(threadId, from);
    this.#sit(next);
  }

  /** Changes the seat, and tells those who listen what they see from now on. */
  #sit(next: Thread | null): void {
    const previous = this.#thread;
    this.#unlisten?.();
    this.#thread = next;
    this.#unlisten = next?.listen(this.#relay);
    if (previous) this.#ports.registry.release(previous.id).catch(() => undefined);
    if (!next) return;
    const at = this.#ports.now();
    const changed: HarnessEvent = {
      type: "thread_changed",
      threadId: next.id,
      previousThreadId: previous?.id ?? null,
      at,
    };
    for (const subscriber of this.#subscribers) {
      subscriber.push(changed);
      subscriber.push(resyncOf(next, at));
    }
  }
}

async function* readerOf(queue: EventQueue, left: () => void): AsyncGenerator<HarnessEvent, void, undefined> {
  try {
    yield* queue;
  } finally {
    left();
  }
}

const noThread = newDisplayState(null);
