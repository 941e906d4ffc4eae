import type { HarnessEvent, Session, ThreadRecord } from "@cinch/core";
import { CinchError, CommandQueue, randomIds } from "@cinch/core/remote";
import type { EventListener } from "./event-listener.ts";
import { RemoteThread } from "./remote-thread.ts";
import { closedClient, isOf, type Wire, type WireAnswer, type WireRequest } from "./wire.ts";
import { objectOf } from "./wire-input.ts";

const WAIT_SECONDS = 25;

/** A request about a thread, without the path of the thread. */
export type ThreadRequest = Omit<WireRequest, "path">;
type ThreadAnswer<T> = WireAnswer<T> & { threadId: string };

/** Where a session is: its current thread, its subscribers, which move with it, and its requests, which are sent in order. */
export class RemoteSeat {
  readonly wire: Wire;
  readonly queue: CommandQueue;
  readonly listeners = new Set<EventListener>();
  #thread: RemoteThread | null = null;

  constructor(wire: Wire, ready: () => Promise<unknown>) {
    this.wire = wire;
    this.queue = new CommandQueue(ready, closedClient);
  }

  get thread(): RemoteThread | null {
    return this.#thread;
  }

  leave(): void {
    this.#move(null);
    for (const listener of this.listeners) listener.end();
    this.listeners.clear();
  }

  inform(message: string): void {
    this.#deliver({ type: "info", threadId: this.#thread?.id ?? "", at: Date.now(), message });
  }

  async enter(threadId: string): Promise<void> {
    if (this.#thread?.id === threadId && !this.#thread.isRefused) return;
    const ifHere = (then: () => void) => this.#thread === next && then();
    const next: RemoteThread = new RemoteThread(this.wire, threadId, {
      deliver: (event) => ifHere(() => this.#deliver(event)),
      deleted: (isKnown) => ifHere(() => this.#leaveDeleted(isKnown)),
      refused: ({ message }) => ifHere(() => this.inform(message)),
    });
    try {
      await next.opened;
    } catch (error) {
      next.close();
      if (this.#thread?.id === threadId && isOf(error, "THREAD_NOT_FOUND")) this.#leaveDeleted(false);
      throw error;
    }
    this.#move(next);
  }

  #leaveDeleted(isKnown: boolean): void {
    const threadId = this.#thread!.id;
    if (!isKnown) this.#deliver({ type: "thread_deleted", threadId, at: Date.now(), previousThreadId: threadId });
    this.#move(null);
  }

  #move(next: RemoteThread | null): void {
    const previousThreadId = this.#thread?.id ?? null;
    this.#thread?.close();
    this.#thread = next;
    if (!next) return;
    if (next.id !== previousThreadId)
      this.#deliver({ type: "thread_changed", threadId: next.id, previousThreadId, at: Date.now() });
    this.#deliver(next.resync());
  }

  #deliver(event: HarnessEvent): void {
    // A copy: a subscriber that a listener adds during this event does not get the event.
    for (const listener of Array.from(this.listeners)) listener.push(event);
  }

  async select(): Promise<ThreadRecord> {
    const [newest] = await this.wire.get<ThreadRecord[]>("/threads", { limit: 1 });
    if (!newest) return this.create();
    await this.enter(newest.id);
    return newest;
  }

  async create(options: Parameters<Session["createThread"]>[0] = {}): Promise<ThreadRecord> {
    const body = { id: randomIds("thread"), ...objectOf(options) };
    return this.made({ method: "POST", path: "/threads", query: { like: this.#thread?.id }, body });
  }

  async made(request: WireRequest): Promise<ThreadRecord> {
    const { value } = await this.wire.call<ThreadRecord>(request);
    await this.enter(value.id);
    return value;
  }

  /**
   * Runs `work` after the commands before it, for the thread that is current at the call. A current thread whose events the server has
   * refused is opened again first: the caller may have another token now.
   */
  at<T>(work: (threadId: string) => Promise<T>, given = this.#thread?.id): Promise<T> {
    return this.queue.run(async () => {
      const threadId = given ?? this.#thread?.id ?? (await this.select()).id;
      if (this.#thread?.id === threadId) await this.enter(threadId);
      return work(threadId);
    });
  }

  /** Settles when the server has accepted it, and the display shows that. */
  async command<T>(name: string, body: unknown = {}): Promise<T> {
    return this.shown(await this.sent<T>(name, { method: "POST", body, key: randomIds("call") }));
  }

  async query<T>(name: string, query: object = {}): Promise<T> {
    return this.shown(await this.sent<T>(name, { query: { ...objectOf(query) } }));
  }

  /** The server begins it in the order of commands, and the answer comes when it is done. */
  async long<T>(name: string, request: ThreadRequest): Promise<T> {
    const first = await this.sent<T>(name, { ...request, query: { ...request.query, wait: 0 } });
    return first.status === 202 ? this.waited(first.threadId, name, request) : this.shown(first);
  }

  /** Asks again until it is done. */
  async waited<T>(threadId: string, name: string, request: ThreadRequest): Promise<T> {
    const query = { ...request.query, wait: WAIT_SECONDS };
    for (;;) {
      const answer = await this.wire.call<T>({ ...request, query, path: `${pathOf(threadId)}/${name}` });
      if (answer.status !== 202) return this.shown({ ...answer, threadId });
    }
  }

  sent<T>(name: string, request: ThreadRequest): Promise<ThreadAnswer<T>> {
    return this.at(async (threadId) => {
      const answer = await this.wire.call<T>({ ...request, path: `${pathOf(threadId)}/${name}` });
      return { ...answer, threadId };
    });
  }

  /** The answer, when the display is as new. */
  async shown<T>({ value, seq, threadId }: ThreadAnswer<T>): Promise<T> {
    if (this.#thread?.id === threadId) await this.#thread.reached(seq);
    return value;
  }
}

export const pathOf = (threadId: string): string => `/threads/${pathId(threadId)}`;

/** An id as a part of a path. With another text, such as "..", the path would be another one. */
export function pathId(id: string): string {
  if (typeof id === "string" && /^[\w-]{1,128}$/.test(id)) return id;
  throw new CinchError("INVALID_INPUT", `${JSON.stringify(id)} is not an id: 1 to 128 letters, digits, "_" or "-".`);
}
