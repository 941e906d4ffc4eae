import { Pool, type PoolClient } from "pg";
import { END_MS, connectionConfig, within } from "../database.ts";

/** The socket below a connection, which the types of `pg` lack. */
type Socketed = PoolClient & { connection: { stream: { destroy(): void } } };

/** After so long without an answer, a connection counts as lost. */
const SILENT_MS = 5_000;

/** A pool for a library that uses connections of its own. It can be ended although the library does not return them. */
export class DirectPool {
  readonly pool: Pool;
  readonly #clients = new Set<PoolClient>();

  constructor(url: string, { max }: { max: number }) {
    this.pool = new Pool({ ...connectionConfig(url), max, query_timeout: SILENT_MS });
    this.pool.on("error", () => undefined);
    this.pool.on("connect", (client) => {
      this.#clients.add(client);
      client.on("error", () => undefined);
    });
    this.pool.on("remove", (client) => this.#clients.delete(client));
  }

  async end(): Promise<void> {
    const ending = this.pool.end();
    await within(END_MS, ending);
    for (const client of this.#clients) (client as Socketed).connection.stream.destroy();
  }
}
