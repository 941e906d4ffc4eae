import type { Connection } from "./connection.ts";
import { currentHolder, isGone, type Holder } from "./holder.ts";
import { sql } from "./sql.ts";
import type { WriterClient } from "./writer-client.ts";

interface HolderRow extends Holder {
  id: string;
  counter: number;
  address: string | null;
}

/** The holders of leases, and which of them live, as this store object sees it. */
export class HolderRows {
  readonly #me: string;
  /** Read at the first question about another process: most processes are alone. */
  #identity: Holder | undefined;
  readonly #writer: WriterClient;
  readonly #all;
  readonly #one;

  constructor({ db }: Connection, writer: WriterClient, me: string) {
    this.#me = me;
    this.#writer = writer;
    const columns = "SELECT id, boot, pidns, pid, start, counter, address FROM holders";
    this.#all = sql<HolderRow>(db, columns);
    this.#one = sql<HolderRow>(db, `${columns} WHERE id = ?`);
  }

  find(holder: string): HolderRow | undefined {
    return this.#one.get(holder);
  }

  isAlive(row: HolderRow | undefined): row is HolderRow {
    if (!row) return false;
    if (row.id === this.#me) return true;
    if (isGone(row, (this.#identity ??= currentHolder()))) return false;
    this.#writer.watch(row.id);
    return !this.#writer.isDead(row.id, row.counter);
  }

  living(): string[] {
    return this.#all
      .all()
      .filter((row) => this.isAlive(row))
      .map(({ id }) => id);
  }
}
