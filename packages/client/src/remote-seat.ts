import type { HarnessEvent, Session, ThreadRecord } from "@cinch/core";
import { CinchError, CommandQueue } from "@cinch/core/remote";
import { randomId } from "./random-id.ts";
import type { EventListener } from "./event-listener.ts";
import { deletionOf, RemoteThread } from "./remote-thread.ts";
import { closedClient, isOf, type Wire, type WireAnswer, type WireRequest } from "./wire.ts";
import { objectOf } from "./wire-input.ts";

const WAIT_SECONDS = 25;

/** A request about a thread, without the path of the thread. */
export type ThreadRequest = Omit<WireRequest, "path">;

/** Where a session is: its current thread, its subscribers, which move with it, and its requests, which are sent in order. */
export class RemoteSeat {
  readonly wire: Wire;
  readonly queue: CommandQueue;
  readonly listeners = new Set<EventListener>();
  /** The questions that the session has answered. The display may show one of a subagent for a moment longer. */
  readonly answered = new Set<string>();
  thread: RemoteThread | null = null;

  constructor(wire: Wire) {
    this.wire = wire;
    this.queue = new CommandQueue(() => wire.init(), closedClient);
  }

  leave(): void {
    this.#move(null);
    this.listeners.clear();
  }

  inform(message: string): void {
    this.#deliver({ type: "info", threadId: this.thread?.id ?? "", at: Date.now(), message });
  }

  async enter(threadId: string): Promise<void> {
    if (this.thread?.id === threadId && !this.thread.refusal) return;
    const next: RemoteThread = new RemoteThread(this.wire, threadId, (event) => {
      if (this.thread === next) this.#deliver(event);
    });
    try {
      await next.opened();
    } catch (error) {
      next.close();
      if (this.thread?.id === threadId && isOf(error, "THREAD_NOT_FOUND")) this.#deliver(deletionOf(threadId));
      throw error;
    }
    this.#move(next);
  }

  #move(next: RemoteThread | null): void {
    const previousThreadId = this.thread?.id ?? null;
    this.thread?.close();
    this.thread = next;
    if (!next) return;
    if (next.id !== previousThreadId)
      this.#deliver({ type: "thread_changed", threadId: next.id, previousThreadId, at: Date.now() });
    this.#deliver(next.resync());
  }

  #deliver(event: HarnessEvent): void {
    // A copy: a subscriber that a listener adds during this event does not get the event.
    for (const listener of Array.from(this.listeners)) listener(event);
    if (event.type === "thread_deleted") this.#move(null);
  }

  async select(): Promise<ThreadRecord> {
    const [newest] = await this.wire.get<ThreadRecord[]>("/threads", { limit: 1 });
    if (!newest) return this.create();
    await this.enter(newest.id);
    return newest;
  }

  async create(options: Parameters<Session["createThread"]>[0] = {}): Promise<ThreadRecord> {
    const body = { id: randomId("thread"), ...objectOf(options) };
    return this.entered({ method: "POST", path: "/threads", query: { like: this.thread?.id }, body });
  }

  /** Enters the thread that the server answers with. */
  async entered(request: WireRequest): Promise<ThreadRecord> {
    const { value } = await this.wire.call<ThreadRecord>(request);
    await this.enter(value.id);
    return value;
  }

  /**
   * Runs `work` after the commands before it, for the thread that is current at the call. A current thread whose events the server has
   * refused is opened again first: the caller may have another token now.
   */
  at<T>(work: (threadId: string) => Promise<T>, given = this.thread?.id): Promise<T> {
    return this.queue.run(async () => {
      const threadId = given ?? this.thread?.id ?? (await this.select()).id;
      if (this.thread?.id === threadId) await this.enter(threadId);
      return work(threadId);
    });
  }

  /** The current thread, after the commands before. What is read there may take long: the commands after it do not wait. */
  here(): Promise<string> {
    return this.at(async (threadId) => threadId);
  }

  /** Reads something of the thread. */
  async read<T>(name: string, request: ThreadRequest): Promise<T> {
    const threadId = await this.here();
    const asked = { ...request, path: `${pathOf(threadId)}/${name}` };
    return this.done(asked, threadId, await this.wire.call<T>(asked));
  }

  /** Settles when the server has done it, and the display shows that. */
  async ask<T>(name: string, request: ThreadRequest): Promise<T> {
    const { threadId, answer } = await this.sent<T>(name, request);
    return this.done({ ...request, path: `${pathOf(threadId)}/${name}` }, threadId, answer);
  }

  /** Asks again until it is done. */
  async done<T>(request: WireRequest, threadId: string, answer?: WireAnswer<T>): Promise<T> {
    const query = { ...request.query, wait: WAIT_SECONDS };
    while (!answer || answer.status === 202) answer = await this.wire.call<T>({ ...request, query });
    if (this.thread?.id === threadId) await this.thread.reached(answer.seq, request.signal);
    return answer.value;
  }

  sent<T>(name: string, request: ThreadRequest): Promise<{ threadId: string; answer: WireAnswer<T> }> {
    return this.at(async (threadId) => ({
      threadId,
      answer: await this.wire.call<T>({ ...request, path: `${pathOf(threadId)}/${name}` }),
    }));
  }
}

export const pathOf = (threadId: string): string => `/threads/${pathId(threadId)}`;

/** An id as a part of a path. With another text, such as "..", the path would be another one. */
export function pathId(id: string): string {
  if (typeof id === "string" && /^[\w-]{1,128}$/.test(id)) return id;
  throw new CinchError("INVALID_INPUT", `${JSON.stringify(id)} is not an id: 1 to 128 letters, digits, "_" or "-".`);
}
