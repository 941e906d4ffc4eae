import type { Harness, StateValues, ThreadApproval, ThreadListChange, ThreadSuspension } from "@cinch/core";
import { ListFeed } from "./list-feed.ts";
import { RemoteSession, type ServerInfo } from "./remote-session.ts";
import { objectOf } from "./wire-input.ts";
import { Wire, type ConnectionState, type ConnectOptions } from "./wire.ts";

/** A server, with the methods of a harness. Those for a thread are those of a default session. */
export class Client<Values = StateValues> extends RemoteSession<Values> {
  readonly #wire: Wire;

  constructor(options: ConnectOptions) {
    const wire = new Wire(options);
    wire.lists = new ListFeed(wire);
    super(wire);
    this.#wire = wire;
  }

  /** What the server says of itself and of this caller. Rejects if it can't be reached, or has another protocol. */
  init(): Promise<ServerInfo> {
    return this.#wire.init();
  }

  /** Opens another session. Whose threads it reaches, and under which name, the token says. */
  async createSession(options: { threadId?: string } = {}): Promise<RemoteSession<Values>> {
    const { threadId } = objectOf(options, ["threadId"]);
    await this.init();
    const session = new RemoteSession<Values>(this.#wire);
    try {
      if (threadId !== undefined) await session.switchThread({ threadId });
    } catch (error) {
      await session.close();
      throw error;
    }
    return session;
  }

  pending(): Promise<(ThreadApproval | ThreadSuspension)[]> {
    return this.#wire.get("/pending");
  }

  readonly pendingApprovals: Harness["pendingApprovals"] = async () =>
    (await this.pending()).filter((call) => call.kind === "approval");

  /** The changes of the list of threads from now on. After a reconnect, all threads of the list count as changed. */
  async followThreads(): Promise<AsyncIterableIterator<ThreadListChange>> {
    await this.init();
    return this.#wire.lists.follow();
  }

  /** Whether the server answered last. What is shown meanwhile may be old. */
  get connection(): ConnectionState {
    return this.#wire.connection;
  }

  /** Calls the listener when `connection` changes, until the function that it returns is called. */
  onConnection(listener: (state: ConnectionState) => void): () => void {
    const { watchers } = this.#wire;
    watchers.add(listener);
    return () => void watchers.delete(listener);
  }

  /** What is pending rejects with `CLOSED`. On the server everything continues. */
  override async close(): Promise<void> {
    this.#wire.close();
  }
}

/** Connects with a server. Nothing is sent before the first call. */
export const connect = <Values = StateValues>(options: ConnectOptions): Client<Values> => new Client<Values>(options);
