import type { HarnessEvent, Session, ThreadRecord } from "@cinch/core";
import { CommandQueue, randomIds, type CinchError } from "@cinch/core/remote";
import type { EventListener } from "./event-listener.ts";
import { RemoteThread } from "./remote-thread.ts";
import { closedClient, type Wire, type WireAnswer, type WireRequest } from "./wire.ts";

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

  /** The thread is deleted, or this caller may no longer read it. `null`: the subscribers know it. */
  lose(error: CinchError | null): void {
    const threadId = this.#thread!.id;
    const at = Date.now();
    if (error?.code === "THREAD_NOT_FOUND")
      this.#deliver({ type: "thread_deleted", threadId, at, previousThreadId: threadId });
    else if (error) this.inform(error.message);
    this.#move(null);
  }

  inform(message: string): void {
    this.#deliver({ type: "info", threadId: this.#thread?.id ?? "", at: Date.now(), message });
  }

  async enter(threadId: string): Promise<void> {
    if (this.#thread?.id === threadId) return;
    const next: RemoteThread = new RemoteThread(this.wire, threadId, {
      deliver: (event) => this.#thread === next && this.#deliver(event),
      lost: (error) => this.#thread === next && this.lose(error),
    });
    try {
      await next.opened;
    } catch (error) {
      next.close();
      throw error;
    }
    this.#move(next);
  }

  #move(next: RemoteThread | null): void {
    const previousThreadId = this.#thread?.id ?? null;
    this.#thread?.close();
    this.#thread = next;
    if (!next) return;
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

  create(options: Parameters<Session["createThread"]>[0] = {}): Promise<ThreadRecord> {
    const body = { id: randomIds("thread"), ...options };
    return this.made({ method: "POST", path: "/threads", query: { like: this.#thread?.id }, body });
  }

  async made(request: WireRequest): Promise<ThreadRecord> {
    const { value } = await this.wire.call<ThreadRecord>(request);
    await this.enter(value.id);
    return value;
  }

  /** Runs `work` after the commands before it, for the thread that is current at the call. */
  at<T>(work: (threadId: string) => Promise<T>, given = this.#thread?.id): Promise<T> {
    return this.queue.run(async () => work(given ?? this.#thread?.id ?? (await this.select()).id));
  }

  /** Settles when the server has accepted it, and the display shows that. */
  async command<T>(name: string, body: unknown = {}): Promise<T> {
    return this.shown(await this.sent<T>(name, { method: "POST", body, key: randomIds("call") }));
  }

  async query<T>(name: string, query: object = {}): Promise<T> {
    return this.shown(await this.sent<T>(name, { query: { ...query } }));
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

export const pathOf = (threadId: string): string => `/threads/${encodeURIComponent(threadId)}`;
