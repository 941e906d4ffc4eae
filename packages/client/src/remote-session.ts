import type {
  HarnessDisplayState,
  HarnessEvent,
  Input,
  Session,
  StateValues,
  ThreadFile,
  ThreadRecord,
  TurnResult,
  WholeState,
} from "@cinch/core";
import { CinchError, EventQueue, newDisplayState, readerOf } from "@cinch/core/remote";
import { randomId } from "./random-id.ts";
import { eventListener, type EventListener } from "./event-listener.ts";
import { pathId, pathOf, RemoteSeat } from "./remote-seat.ts";
import type { ThreadSettings } from "./remote-thread.ts";
import { THREAD_REQUESTS } from "./thread-requests.ts";
import { readThreadFile, type Wire } from "./wire.ts";
import { objectOf, wireInput } from "./wire-input.ts";

/** A mode without its model and instructions, which stay on the server. */
export interface RemoteMode {
  id: string;
  name: string;
  tools: readonly string[];
  transitionsTo: string | null;
  metadata: Record<string, unknown>;
}

/** What the server says of itself and of the caller. */
export interface ServerInfo {
  protocol: number;
  modes: readonly RemoteMode[];
  /** The ids of models that the server offers. */
  models: readonly string[];
  /** Such as `fileBytes`, the most that a message with its files may have. */
  limits: Readonly<Record<string, number>>;
  /** What else is served, each below a path of its name. */
  mounts: readonly string[];
  /** The name that the server has for this caller. */
  by: string | null;
  may: readonly string[];
  resourceId: string;
  /** The settings of a session that is at no thread. */
  control: ThreadSettings;
}

/** What a session of a server and one in the process of the harness have in common. */
export type SessionFace<Values = StateValues> = Omit<
  Pick<Session<Values>, keyof Session<Values>>,
  "push" | "abandon" | "once" | "listModes"
> & { listModes(): Promise<readonly Pick<RemoteMode, "id" | "name">[]> };

/** The constructor makes these methods of the table that names them here. */
// oxlint-disable-next-line no-unsafe-declaration-merging
export interface RemoteSession<Values> extends Pick<Session<Values>, keyof typeof THREAD_REQUESTS> {}

/** One seat at a thread of a server, with the methods and the promises of a `Session`. */
export class RemoteSession<Values = StateValues> implements SessionFace<Values> {
  readonly #wire: Wire;
  readonly #seat: RemoteSeat;
  readonly #readers = new Set<EventQueue>();
  #noThread: HarnessDisplayState | undefined;

  constructor(wire: Wire) {
    const seat = new RemoteSeat(wire);
    this.#wire = wire;
    this.#seat = seat;
    for (const [name, send] of Object.entries(THREAD_REQUESTS))
      Object.assign(this, { [name]: (options: never) => send(seat, name, options) });
    wire.closed.addEventListener("abort", this.#dropped);
  }

  get resourceId(): string {
    return this.#wire.info?.resourceId ?? "";
  }

  get by(): string | undefined {
    return this.#wire.info?.by ?? undefined;
  }

  /** The names of the people at the current thread. */
  get people(): readonly string[] {
    return this.#seat.thread?.people ?? [];
  }

  // Events

  subscribe(listener: (event: HarnessEvent) => void, options: { since?: number } = {}): () => void {
    const { since } = objectOf(options, ["since"]);
    if (typeof listener !== "function")
      throw new CinchError("INVALID_INPUT", "subscribe() takes a function: it is called with each event.");
    const { thread, listeners } = this.#seat;
    const one: EventListener = eventListener(listener, {
      isOver: () => !listeners.has(one),
      // A server that refuses the past refuses the stream, too, and the session says why.
      past: thread && since !== undefined ? thread.past(since).catch(() => [thread.resync()]) : undefined,
      report: (error) => {
        const said = `A subscriber threw: ${error instanceof Error ? error.message : String(error)}`;
        this.#seat.inform(said);
        console.warn(said, error);
      },
    });
    listeners.add(one);
    return () => void listeners.delete(one);
  }

  events(options: { since?: number; signal?: AbortSignal } = {}): AsyncGenerator<HarnessEvent, void, undefined> {
    const { since, signal } = objectOf(options, ["since", "signal"]);
    const queue = new EventQueue(() => this.#seat.thread?.resync() ?? null);
    const unsubscribe = this.subscribe((event) => queue.push(event), { since });
    const end = () => queue.end();
    signal?.addEventListener("abort", end);
    this.#readers.add(queue);
    if (this.#seat.queue.isClosed || signal?.aborted) end();
    return readerOf(queue, () => {
      unsubscribe();
      this.#readers.delete(queue);
      signal?.removeEventListener("abort", end);
    });
  }

  getDisplayState(): HarnessDisplayState {
    const { thread } = this.#seat;
    if (thread) return thread.display;
    const yolo = this.#settings?.state["yolo"] === true;
    return (this.#noThread ??= { ...newDisplayState(null), yolo });
  }

  readonly getTokenUsage: Session["getTokenUsage"] = () => this.getDisplayState().tokenUsage;
  readonly getCurrentThreadId: Session["getCurrentThreadId"] = () => this.#seat.thread?.id ?? null;

  // Input

  async sendMessage(input: Input): Promise<TurnResult> {
    const { inputId, body } = wireInput({ ...input, delivery: "send" });
    const { threadId } = await this.#seat.sent("post", { method: "POST", body });
    return this.#seat.done({ path: `${pathOf(threadId)}/resultOf`, query: { inputId } }, threadId);
  }

  // Modes, permissions, state

  async listModes(): Promise<readonly RemoteMode[]> {
    return (await this.#wire.init()).modes;
  }

  readonly getCurrentModeId: Session["getCurrentModeId"] = () => this.#settings?.modeId ?? "";
  readonly getCurrentModelId: Session["getCurrentModelId"] = () => this.#settings?.modelId ?? "";
  readonly getSessionGrants: Session["getSessionGrants"] = () => this.#settings?.grants ?? [];
  readonly getPermissionRules: Session["getPermissionRules"] = () => this.#settings?.rules ?? [];

  getState(): WholeState<Values> {
    return structuredClone(this.#settings?.state ?? {}) as WholeState<Values>;
  }

  get #settings(): ThreadSettings | undefined {
    return this.#seat.thread?.settings ?? this.#wire.info?.control;
  }

  // Threads

  readonly createThread: Session["createThread"] = (options) => this.#seat.queue.run(() => this.#seat.create(options));
  readonly selectOrCreateThread: Session["selectOrCreateThread"] = () =>
    this.#seat.queue.run(() => this.#seat.select());

  async switchThread(options: { threadId: string }): Promise<ThreadRecord> {
    const { threadId, ...query } = objectOf(options);
    const path = `${pathOf(threadId)}/record`;
    return this.#seat.at(() => this.#seat.entered({ path, query }), threadId);
  }

  async deleteThread(options: { threadId: string }): Promise<void> {
    const { threadId, ...query } = objectOf(options);
    const path = pathOf(threadId);
    return this.#seat.at(async () => {
      await this.#wire.call({ method: "DELETE", path, query, key: randomId("call") });
      await this.#seat.thread?.deleted(threadId);
    }, threadId);
  }

  async cloneThread(options: Parameters<Session["cloneThread"]>[0] = {}): Promise<ThreadRecord> {
    const { sourceThreadId, ...cut } = objectOf(options);
    const body = { id: randomId("thread"), ...cut };
    const clone = (source: string) =>
      this.#seat.entered({ method: "POST", path: `${pathOf(source)}/cloneThread`, body });
    return this.#seat.at(clone, sourceThreadId);
  }

  listThreads(query: Parameters<Session["listThreads"]>[0] = {}): Promise<ThreadRecord[]> {
    const { wire, queue } = this.#seat;
    return queue.run(async () => {
      const { resourceId = this.resourceId, ...rest } = objectOf(query);
      // A client reaches the threads of its own resource only.
      if (resourceId !== this.resourceId) return [];
      return wire.get<ThreadRecord[]>("/threads", rest);
    });
  }

  async readBlob(options: { hash: string }): Promise<ThreadFile | null> {
    const { hash, ...query } = objectOf(options);
    const path = `/blobs/${pathId(hash)}`;
    const threadId = await this.#seat.here();
    return readThreadFile(this.#wire, { path: pathOf(threadId) + path, query });
  }

  // Seat

  /** Leaves the thread. What the server has accepted continues there. */
  async close(): Promise<void> {
    if (this.#seat.queue.isClosed) return;
    await this.#seat.queue.close();
    this.#dropped();
  }

  readonly #dropped = (): void => {
    this.#seat.queue.abandon();
    this.#seat.leave();
    for (const reader of this.#readers) reader.end();
    this.#wire.closed.removeEventListener("abort", this.#dropped);
  };
}
