import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { END_MS, SILENT_MS, connectionConfig, endClient, pausing, within, type Database } from "./database.ts";
import { meaningOf } from "./failure.ts";
import { noticesIn, Outbox, type ChangeNotice } from "./change-notice.ts";

interface Handlers {
  /** Other processes sent these. */
  received(notices: readonly ChangeNotice[]): void;
  /** Notices may have been lost: the connection is new. */
  connected(): void;
}

/** Methods that the types of `pg` lack. */
type Refable = Client & { ref(): void; unref(): void };

/** From one message with notices to the next. A notice takes the server as long as an append: one for each would cost as much again. */
const GAP_MS = 20;
const HELLO = "hello";
/** Through a pooler in transaction mode no notice arrives, and no error either. */
const HELLO_MS = 2_000;

/**
 * The one connection past a pooler. It has the lock that shows that this store object lives, receives the notices of others, and sends its
 * own: after the commit, because a notice in a transaction holds a lock of the whole server until the commit. It is opened again whenever it
 * is lost.
 */
export class DirectConnection {
  readonly #url: string;
  readonly #database: Database;
  readonly #holder: number;
  readonly #handlers: Handlers;
  readonly #outbox = new Outbox();
  #client: Client | undefined;
  #channel = "";
  #sending: Promise<void> | undefined;
  #connecting: Promise<void> | undefined;
  #isClosed = false;
  #hears = false;
  #hello: NodeJS.Timeout | undefined;

  constructor(url: string, { database, holder, handlers }: { database: Database; holder: number; handlers: Handlers }) {
    this.#url = url;
    this.#database = database;
    this.#holder = holder;
    this.#handlers = handlers;
  }

  /** Whether notices arrive. */
  get hears(): boolean {
    return this.#hears;
  }

  /** Throws a `CinchError` if the server can't be reached or refuses the user. */
  async open(): Promise<void> {
    try {
      await this.#connect();
    } catch (error) {
      const meaning = meaningOf(error, { place: this.#database.place, isSent: false });
      if (meaning.kind === "failed") throw meaning.error;
      this.#lost();
    }
  }

  /** Sends it with all others that wait. */
  send(notice: ChangeNotice): void {
    this.#outbox.add(notice);
    this.#flush();
  }

  /** A change has come without a notice. It may be on its way, or this connection has fallen silent. */
  check(): void {
    const client = this.#client;
    if (client && this.#hears && !this.#hello) this.#sayHello(client, () => this.#lost(client));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopHello();
    await this.#connecting;
    const client = this.#client as Refable | undefined;
    // What is awaited must keep the process alive.
    client?.ref();
    await within(END_MS, this.#flushed());
    this.#client = undefined;
    if (client) await endClient(client);
  }

  async #connect(): Promise<void> {
    const client = new Client({ ...connectionConfig(this.#url), query_timeout: SILENT_MS });
    client.on("error", () => this.#lost(client));
    client.on("end", () => this.#lost(client));
    client.on("notification", ({ payload = "" }) => this.#received(payload));
    try {
      await client.connect();
      await this.#lock(client);
      await client.query(`LISTEN ${this.#channel}`);
    } catch (error) {
      await endClient(client);
      throw error;
    }
    if (this.#isClosed) return endClient(client);
    this.#client = client;
    // A store that is not closed does not keep its process alive.
    (client as Refable).unref();
    this.#hears = false;
    this.#sayHello(client, () => this.#warn());
    this.#handlers.connected();
    this.#flush();
  }

  /** A connection that was cut off may still have the lock, on the server. It shows the same. */
  async #lock(client: Client): Promise<void> {
    const query = (text: string) => client.query<{ channel: string }>(this.#database.sql(text), [this.#holder]);
    const { rows } = await query(
      `SELECT 'cinch_' || 'cinch.holders'::regclass::oid AS channel,
         pg_try_advisory_lock('cinch.holders'::regclass::oid::integer, $1::integer)`,
    );
    this.#channel = rows[0]!.channel;
    await query("UPDATE cinch.holders SET locked_since = pg_postmaster_start_time() WHERE no = $1");
  }

  #warn(): void {
    process.emitWarning(
      `${this.#database.place} sends no notices on this connection, so the store asks it for changes 20 times a second. ` +
        "If a pooler is in between, give a directUrl that leads to the server.",
      { type: "CinchWarning", code: "CINCH_NO_NOTICES" },
    );
  }

  #sayHello(client: Client, unanswered: () => void): void {
    this.#stopHello();
    this.#hello = setTimeout(unanswered, HELLO_MS).unref();
    // By another connection: through a pooler this one might share a session of the server with itself, and hear only what it says.
    const values = [this.#channel, `${HELLO} ${this.#holder}`];
    this.#database.once("write", { text: "SELECT pg_notify($1, $2)", values }).catch(() => this.#lost(client));
  }

  #received(payload: string): void {
    if (payload === `${HELLO} ${this.#holder}`) {
      this.#hears = true;
      return this.#stopHello();
    }
    const { sender, notices } = noticesIn(payload);
    if (sender !== this.#holder) this.#handlers.received(notices);
  }

  #flush(): void {
    const client = this.#client;
    if (!client || this.#sending || this.#outbox.isEmpty) return;
    this.#sending = Promise.all([this.#notify(client, this.#outbox.take(this.#holder)), pause(GAP_MS)])
      .then(
        () => undefined,
        () => this.#lost(client),
      )
      .finally(() => {
        this.#sending = undefined;
        this.#flush();
      });
  }

  async #flushed(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  async #notify(client: Client, payloads: string[]): Promise<void> {
    // The commit of a notice need not wait for the disk.
    await client.query(
      "SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload, set_config('synchronous_commit', 'off', true)",
      [this.#channel, payloads],
    );
  }

  #lost(client?: Client): void {
    if (client !== this.#client || this.#isClosed) return;
    this.#client = undefined;
    this.#hears = false;
    this.#stopHello();
    this.#connecting ??= this.#reconnect(client).finally(() => (this.#connecting = undefined));
  }

  #stopHello(): void {
    clearTimeout(this.#hello);
    this.#hello = undefined;
  }

  async #reconnect(lost?: Client): Promise<void> {
    if (lost) await endClient(lost);
    for (let attempt = 0; !this.#isClosed; attempt++) {
      await pausing(attempt);
      try {
        if (!this.#isClosed) await this.#connect();
        return;
      } catch {
        // Until it succeeds. Meanwhile followers ask for changes, and beats go by other connections.
      }
    }
  }
}
