import { Client, type QueryConfig, type QueryResult } from "pg";
import { END_MS, SILENT_MS, connectionConfig, endClient, pausing, within } from "../database.ts";
import { sqlStateOf } from "../failure.ts";

type Query = [text: string | QueryConfig, values?: unknown[]];

interface Listening {
  /** What the connection listens to. */
  channel: string;
  /** Called for each notice, and after each new connection, before which notices may have been lost. */
  noticed(): void;
}

/**
 * One connection past a pooler, which is opened again whenever it is lost. Queries run one after the other. They wait for the connection, may
 * run twice, and never fail: the library that uses it leaves rejections unhandled, which would end the process. After `close` they have no
 * rows.
 */
export class LastingConnection {
  readonly #url: string;
  readonly #listening: Listening;
  readonly #closed = Promise.withResolvers<void>();
  #client: Client | undefined;
  #connecting: Promise<void> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(url: string, listening: Listening) {
    this.#url = url;
    this.#listening = listening;
  }

  /** Settles after the first attempt to connect. If it fails, more follow. */
  async open(): Promise<void> {
    await this.#connect().catch(() => this.#lost());
  }

  query = (...query: Query): Promise<QueryResult> => {
    const result = this.#last.then(() => this.#repeat(query));
    this.#last = result;
    return result;
  };

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closed.resolve();
    const client = this.#client;
    this.#client = undefined;
    await within(END_MS, Promise.all([this.#last, this.#connecting]));
    if (client) await endClient(client);
  }

  async #repeat(query: Query): Promise<QueryResult> {
    for (let attempt = 0; !this.#isClosed; attempt++) {
      const client = this.#client;
      try {
        if (client) return await client.query(...query);
      } catch (error) {
        // An answer of the server, for example that a right is missing now: the connection is good.
        if (sqlStateOf(error) === "") this.#lost(client);
      }
      await Promise.race([pausing(attempt), this.#closed.promise]);
    }
    return NOTHING;
  }

  async #connect(): Promise<void> {
    const client = new Client({ ...connectionConfig(this.#url), query_timeout: SILENT_MS });
    client.on("error", () => this.#lost(client));
    client.on("end", () => this.#lost(client));
    client.on("notification", () => this.#listening.noticed());
    try {
      await client.connect();
      await client.query(`LISTEN "${this.#listening.channel}"`);
    } catch (error) {
      await endClient(client);
      throw error;
    }
    if (this.#isClosed) return endClient(client);
    this.#client = client;
    this.#listening.noticed();
  }

  #lost(client?: Client): void {
    if (this.#client !== client || this.#isClosed) return;
    this.#client = undefined;
    this.#connecting ??= this.#reconnect(client).finally(() => (this.#connecting = undefined));
  }

  async #reconnect(lost?: Client): Promise<void> {
    if (lost) await endClient(lost);
    for (let attempt = 0; !this.#isClosed && !this.#client; attempt++) {
      await pausing(attempt);
      await this.#connect().catch(() => undefined);
    }
  }
}

const NOTHING = { rows: [], rowCount: 0, command: "", oid: 0, fields: [] } satisfies QueryResult;
