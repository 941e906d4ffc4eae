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
import { CinchError, EventQueue, newDisplayState, randomIds, readerOf } from "@cinch/core/remote";
import { AnswerBinding, type UnboundAnswer } from "./answer-binding.ts";
import { EventListener } from "./event-listener.ts";
import { pathId, pathOf, RemoteSeat } from "./remote-seat.ts";
import type { ThreadSettings } from "./remote-thread.ts";
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

export interface RemotePorts {
  wire: Wire;
  info(): ServerInfo | undefined;
  ready(): Promise<unknown>;
}

/** One seat at a thread of a server, with the methods and the promises of a `Session`. */
export class RemoteSession<Values = StateValues> implements SessionFace<Values> {
  readonly #ports: RemotePorts;
  readonly #seat: RemoteSeat;
  readonly #binding = new AnswerBinding();
  readonly #readers = new Set<EventQueue>();
  #noThread: HarnessDisplayState | undefined;

  constructor(ports: RemotePorts) {
    this.#ports = ports;
    this.#seat = new RemoteSeat(ports.wire, ports.ready);
    ports.wire.closed.addEventListener("abort", this.#dropped);
  }

  get resourceId(): string {
    return this.#ports.info()?.resourceId ?? "";
  }

  get by(): string | undefined {
    return this.#ports.info()?.by ?? undefined;
  }

  /** The names of the people at the current thread. */
  get people(): readonly string[] {
    return this.#seat.thread?.people ?? [];
  }

  // Events

  subscribe(listener: (event: HarnessEvent) => void, { since }: { since?: number } = {}): () => void {
    if (typeof listener !== "function")
      throw new CinchError("INVALID_INPUT", "subscribe() takes a function: it is called with each event.");
    const { thread, listeners } = this.#seat;
    const one = new EventListener(listener, (error) => this.#seat.inform(`A subscriber threw: ${String(error)}`));
    listeners.add(one);
    if (thread && since !== undefined) one.replay(thread.past(since));
    return () => {
      listeners.delete(one);
      one.end();
    };
  }

  events({ since, signal }: { since?: number; signal?: AbortSignal } = {}): AsyncGenerator<
    HarnessEvent,
    void,
    undefined
  > {
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
    const { threadId, inputId } = await this.#post("post", { ...input, delivery: "send" });
    return this.#seat.waited(threadId, "resultOf", { query: { inputId } });
  }

  readonly post: Session["post"] = (input) => this.#posted("post", input);
  readonly steer: Session["steer"] = (input) => this.#posted("steer", input);
  readonly followUp: Session["followUp"] = (input) => this.#posted("followUp", input);
  readonly listInbox: Session["listInbox"] = () => this.#seat.query("listInbox");
  readonly editInput = this.#command("editInput");
  readonly removeInput = this.#command("removeInput");
  readonly abort: Session["abort"] = (options) => this.#long("abort", options);
  readonly resume: Session["resume"] = () => this.#seat.command("resume");
  readonly retry: Session["retry"] = () => this.#long("retry");
  readonly compact: Session["compact"] = (options) => this.#long("compact", options);
  readonly settled: Session["settled"] = (options) => this.#waited("settled", options);
  readonly resultOf: Session["resultOf"] = (options) => this.#waited("resultOf", options);
  readonly explainContext: Session["explainContext"] = () => this.#seat.query("explainContext");

  readonly respondToToolSuspension = this.#answer("respondToToolSuspension", "pendingSuspensions");
  readonly respondToToolApproval = this.#answer("respondToToolApproval", "pendingApprovals");

  // Modes, permissions, state

  async listModes(): Promise<readonly RemoteMode[]> {
    await this.#ports.ready();
    return this.#ports.info()!.modes;
  }

  readonly switchMode = this.#command("switchMode");
  readonly getCurrentModeId: Session["getCurrentModeId"] = () => this.#settings?.modeId ?? "";
  readonly switchModel: Session["switchModel"] = this.#command("switchModel");
  readonly getCurrentModelId: Session["getCurrentModelId"] = () => this.#settings?.modelId ?? "";
  readonly setPermissionForTool = this.#command("setPermissionForTool");
  readonly setPermissionForCategory = this.#command("setPermissionForCategory");
  readonly grantSessionTool = this.#command("grantSessionTool");
  readonly grantSessionCategory = this.#command("grantSessionCategory");
  readonly getSessionGrants: Session["getSessionGrants"] = () => this.#settings?.grants ?? [];
  readonly getPermissionRules: Session["getPermissionRules"] = () => this.#settings?.rules ?? [];
  readonly setState = this.#command("setState");

  getState(): WholeState<Values> {
    return structuredClone(this.#settings?.state ?? {}) as WholeState<Values>;
  }

  get #settings(): ThreadSettings | undefined {
    return this.#seat.thread?.settings ?? this.#ports.info()?.control;
  }

  // Threads

  readonly createThread: Session["createThread"] = (options) => this.#seat.queue.run(() => this.#seat.create(options));
  readonly selectOrCreateThread: Session["selectOrCreateThread"] = () =>
    this.#seat.queue.run(() => this.#seat.select());

  async switchThread(options: { threadId: string }): Promise<ThreadRecord> {
    const { threadId, ...query } = objectOf(options);
    const path = `${pathOf(threadId)}/record`;
    return this.#seat.at(async () => {
      const record = await this.#ports.wire.get<ThreadRecord>(path, query);
      await this.#seat.enter(threadId);
      return record;
    }, threadId);
  }

  readonly renameThread = this.#command("renameThread");

  async deleteThread(options: { threadId: string }): Promise<void> {
    const { threadId, ...query } = objectOf(options);
    const path = pathOf(threadId);
    return this.#seat.at(async () => {
      await this.#ports.wire.call({ method: "DELETE", path, query, key: randomIds("call") });
      await this.#seat.thread?.deleted(threadId);
    }, threadId);
  }

  async cloneThread(options: Parameters<Session["cloneThread"]>[0] = {}): Promise<ThreadRecord> {
    const { sourceThreadId, ...cut } = objectOf(options);
    const body = { id: randomIds("thread"), ...cut };
    const clone = (source: string) => this.#seat.made({ method: "POST", path: `${pathOf(source)}/cloneThread`, body });
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

  readonly rewind = this.#command("rewind");
  readonly diff = this.#query("diff");
  readonly listMessages = this.#query("listMessages");
  readonly listEvents = this.#query("listEvents");

  async readBlob(options: { hash: string }): Promise<ThreadFile | null> {
    const { hash, ...query } = objectOf(options);
    const path = `/blobs/${pathId(hash)}`;
    return this.#seat.at((threadId) => readThreadFile(this.#ports.wire, { path: pathOf(threadId) + path, query }));
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
    this.#ports.wire.closed.removeEventListener("abort", this.#dropped);
  };

  #command<M extends keyof Session<Values>>(name: M): Session<Values>[M] {
    return ((options?: unknown) => this.#seat.command(name, options)) as Session<Values>[M];
  }

  #answer<M extends keyof Session>(name: M, questions: "pendingApprovals" | "pendingSuspensions"): Session[M] {
    return ((answer: UnboundAnswer) =>
      this.#binding.send(answer, this.getDisplayState()[questions], (bound) =>
        this.#seat.command(name, bound),
      )) as Session[M];
  }

  #query<M extends keyof Session<Values>>(name: M): Session<Values>[M] {
    return ((options?: object) => this.#seat.query(name, options)) as Session<Values>[M];
  }

  #long<T>(name: string, body: unknown = {}): Promise<T> {
    return this.#seat.long(name, { method: "POST", body, key: randomIds("call") });
  }

  async #waited<T>(name: string, options: { signal?: AbortSignal } = {}): Promise<T> {
    const { signal, ...query } = objectOf(options);
    return this.#seat.long(name, { query, signal });
  }

  async #post(name: string, input: Input & { delivery?: string }) {
    const { inputId, body } = wireInput(input);
    return { ...(await this.#seat.sent(name, { method: "POST", body })), inputId };
  }

  async #posted(name: string, input: Input): Promise<{ inputId: string }> {
    const { inputId, ...answer } = await this.#post(name, input);
    await this.#seat.shown(answer);
    return { inputId };
  }
}
