import { ThreadChanges } from "@cinch/core/store";
import type { Connection } from "./connection.ts";
import { LIST_COLUMNS, threadRecordOf, type ListRow } from "./listing.ts";
import { IS_CHANGED, LAST_CHANGE, WORK } from "./schema.ts";
import { limitTo, sql } from "./sql.ts";

interface ChangedRow extends ListRow {
  subagent: number;
  changed: number;
  asked: number;
  deleted: number;
}

/** What the followers have got: the newest change, and the newest thread. */
interface Place {
  changed: number;
  no: number;
}

/** Of one resource. */
interface Followed {
  readers: Set<ThreadChanges>;
  /** The numbers of its threads that are not subagents': the tombstone of a deleted thread does not say whose it was. */
  threads: Set<number>;
}

const ROWS_AT_ONCE = 500;

/** Tells followers what changes in the list of threads. `poll` reads only the rows that have changed. */
export class ListChanges {
  readonly #followed = new Map<string, Followed>();
  readonly #place;
  readonly #threads;
  readonly #rows;
  #got: Place = { changed: 0, no: 0 };

  constructor({ db }: Connection) {
    this.#place = sql<Place>(db, `SELECT ${LAST_CHANGE} AS changed, coalesce((SELECT max(no) FROM threads), 0) AS no`);
    this.#threads = sql<{ no: number }>(
      db,
      "SELECT no FROM threads WHERE resource = ? AND subagent = 0 AND deleted = 0",
    );
    const rows = `SELECT ${LIST_COLUMNS}, subagent, changed, asked, deleted FROM threads`;
    this.#rows = sql<ChangedRow>(
      db,
      `${rows} WHERE deleted = 0 AND ${WORK} IN (0, 1, 2) AND touched > ?1 AND NOT ${IS_CHANGED}
       UNION ALL ${rows} WHERE ${IS_CHANGED} AND changed > ?1 ORDER BY changed ${limitTo("?2")}`,
    );
  }

  get isFollowed(): boolean {
    return this.#followed.size > 0;
  }

  /** `left` is called when the reader stops. */
  follow(resourceId: string, left: () => void): ThreadChanges {
    // What happened before the call is for the earlier followers only.
    if (this.isFollowed) this.poll();
    else this.#got = this.#place.get()!;
    const followed = this.#followed.get(resourceId) ?? { readers: new Set(), threads: this.#threadsOf(resourceId) };
    this.#followed.set(resourceId, followed);
    const { readers } = followed;
    const changes = new ThreadChanges(() => {
      readers.delete(changes);
      if (readers.size === 0 && this.#followed.get(resourceId) === followed) this.#followed.delete(resourceId);
      left();
    });
    readers.add(changes);
    return changes;
  }

  #threadsOf(resourceId: string): Set<number> {
    return new Set(this.#threads.all(resourceId).map(({ no }) => no));
  }

  poll(): void {
    if (!this.isFollowed) return;
    for (let rows = this.#next(); rows.length > 0; rows = this.#next()) {
      const before = this.#got;
      this.#got = { changed: rows.at(-1)!.changed, no: Math.max(before.no, ...rows.map(({ no }) => no)) };
      for (const row of rows) {
        if (row.deleted) this.#announceDeleted(row);
        else this.#announce(row, before);
      }
    }
  }

  #next(): ChangedRow[] {
    return this.#rows.all(this.#got.changed, ROWS_AT_ONCE);
  }

  #announce(row: ChangedRow, before: Place): void {
    const { no, id: threadId, subagent } = row;
    const { readers, threads } = this.#followed.get(row.resource) ?? {};
    if (!subagent) threads?.add(no);
    for (const reader of readers ?? []) {
      if (!subagent) reader.push({ kind: no > before.no ? "created" : "changed", thread: threadRecordOf(row) });
      if (row.asked > before.changed) reader.push({ kind: "pending", threadId });
    }
  }

  #announceDeleted({ no, id: threadId }: ChangedRow): void {
    for (const { readers, threads } of this.#followed.values())
      if (threads.delete(no)) for (const reader of readers) reader.push({ kind: "deleted", threadId });
  }

  end(): void {
    for (const { readers } of Array.from(this.#followed.values()))
      for (const changes of Array.from(readers)) changes.end();
  }
}
