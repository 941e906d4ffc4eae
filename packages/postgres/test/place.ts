import { Client } from "pg";
import type { Store } from "@cinch/core";
import { postgresStore, type PostgresOptions } from "@cinch/postgres";
import { serverUrl } from "./server.ts";

const DEADLOCK = "40P01";

/** A schema of its own on the server for tests. At the end of the test, everything that has it open is closed and the schema dropped. */
export class Place implements AsyncDisposable {
  readonly url: string;
  readonly schema = `t_${process.pid}_${Math.random().toString(36).slice(2)}`;
  readonly #opened: { close(): Promise<void> }[] = [];

  private constructor(url: string) {
    this.url = url;
  }

  /** `url`: of another server than the one for tests. */
  static async make({ url }: { url?: string } = {}): Promise<Place> {
    return new Place(url ?? (await serverUrl()));
  }

  get options(): PostgresOptions {
    return { url: this.url, schema: this.schema };
  }

  /** Its sessions wait for a lock as for a server that takes long. */
  get patientOptions(): PostgresOptions {
    const url = new URL(this.url);
    url.searchParams.set("options", "-c lock_timeout=600000");
    return { ...this.options, url: url.href };
  }

  async store(options: Partial<PostgresOptions> = {}): Promise<Store> {
    const store = postgresStore({ ...this.options, ...options });
    await store.open();
    this.#opened.push(store);
    return store;
  }

  /** Closes it at the end of the test. */
  add<T extends { close(): Promise<void> }>(opened: T): T {
    this.#opened.push(opened);
    return opened;
  }

  /** Runs SQL past the store. `cinch.` stands for the schema. */
  async query(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: this.url, options: "-c TimeZone=UTC" });
    await client.connect();
    try {
      const { rows } = await client.query<Record<string, unknown>>(
        text.replaceAll("cinch.", `"${this.schema}".`),
        values,
      );
      return rows;
    } finally {
      await client.end();
    }
  }

  /** Blocks everything that uses the table until the returned function is called. */
  lock(table: string): Promise<() => Promise<void>> {
    return this.#lock(`LOCK TABLE "${this.schema}".${table} IN ACCESS EXCLUSIVE MODE`);
  }

  /** Blocks what changes a row of the table until the returned function is called. */
  lockRows(table: string): Promise<() => Promise<void>> {
    return this.#lock(`SELECT FROM "${this.schema}".${table} FOR UPDATE`);
  }

  async #lock(statement: string): Promise<() => Promise<void>> {
    const client = new Client(this.url);
    await client.connect();
    await client.query(`BEGIN; ${statement}`);
    const unlock = () => client.end();
    // A test that has failed would wait for it.
    this.#opened.push({ close: unlock });
    return unlock;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#opened.map((opened) => opened.close()));
    await this.#drop();
  }

  /** A query of a process that was killed or cut off may still run, and be in the way. */
  async #drop(): Promise<void> {
    for (;;)
      try {
        await this.query(`DROP SCHEMA IF EXISTS "${this.schema}" CASCADE`);
        return;
      } catch (error) {
        if ((error as { code?: string }).code !== DEADLOCK) throw error;
      }
  }
}
