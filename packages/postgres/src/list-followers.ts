import { CinchError } from "@cinch/core";
import { ThreadChanges } from "@cinch/core/store";
import type { Database } from "./database.ts";
import { escapeText, unescapeText } from "./escaped-text.ts";
import type { FollowBarrier } from "./follow-barrier.ts";
import type { ChangeNotice } from "./change-notice.ts";
import { THREAD_COLUMNS, listedRecordOf, type ThreadListRow } from "./thread-listing.ts";

interface ChangedRow extends ThreadListRow {
  subagent: boolean;
  version: number;
  asked: number;
  deleted: boolean;
}

/** What readers know of a thread of their resource. */
type Known = Pick<ChangedRow, "version" | "asked" | "subagent">;

interface Followed {
  readers: Set<ThreadChanges>;
  /** `undefined` until the list was read. */
  known: Map<number, Known> | undefined;
}

const COLUMNS = `${THREAD_COLUMNS}, subagent, version, asked, t.deleted`;

/** Tells readers what changes in the list of threads: by notices, and by one query for all changes in case a notice is lost. */
export class ListFollowers {
  readonly #database: Database;
  readonly #barrier: FollowBarrier;
  /** By resource, encoded as in the rows. */
  readonly #followed = new Map<string, Followed>();
  /** The numbers of threads with changes that were not read yet. */
  readonly #reported = new Set<number>();
  /** Every transaction before this one was seen. */
  #low: string | undefined;
  #working: Promise<void> | undefined;
  #isPolling = false;

  constructor(database: Database, barrier: FollowBarrier) {
    this.#database = database;
    this.#barrier = barrier;
  }

  get isFollowed(): boolean {
    return this.#followed.size > 0;
  }

  follow(resourceId: string): ThreadChanges {
    const resource = escapeText(resourceId);
    const followed = this.#followed.get(resource) ?? { readers: new Set(), known: undefined };
    this.#followed.set(resource, followed);
    const { readers } = followed;
    const changes = new ThreadChanges(() => {
      readers.delete(changes);
      if (readers.size === 0 && this.#followed.get(resource) === followed) this.#followed.delete(resource);
    });
    readers.add(changes);
    if (!followed.known) this.#barrier.add(this.#work());
    return changes;
  }

  received(notice: ChangeNotice): void {
    if (notice.kind !== "listed" || !this.isFollowed) return;
    this.#reported.add(notice.no);
    this.#work();
  }

  poll(): Promise<void> {
    this.#isPolling = true;
    return this.#work();
  }

  end(): void {
    for (const { readers } of Array.from(this.#followed.values()))
      for (const changes of Array.from(readers)) changes.end();
  }

  #work(): Promise<void> {
    this.#working ??= this.#run();
    return this.#working;
  }

  async #run(): Promise<void> {
    // Several threads and lists are read at once.
    await Promise.resolve();
    try {
      await this.#catchUp();
    } catch (error) {
      // The next poll reads what is missing.
      if (!(error instanceof CinchError)) throw error;
    } finally {
      this.#working = undefined;
    }
  }

  async #catchUp(): Promise<void> {
    while (this.isFollowed) {
      const unread = [...this.#followed].filter(([, { known }]) => !known);
      if (unread.length > 0) await this.#readLists(unread);
      else if (this.#reported.size > 0) await this.#readReported();
      else if (this.#isPolling) await this.#readChanged();
      else return;
    }
    this.#reported.clear();
    this.#isPolling = false;
    this.#low = undefined;
  }

  async #readLists(unread: [string, Followed][]): Promise<void> {
    const rows = await this.#database.read<ChangedRow & { low: string }>(
      `SELECT no, resource, subagent, version, asked, pg_snapshot_xmin(pg_current_snapshot())::text AS low
       FROM (SELECT 1) AS one LEFT JOIN cinch.threads ON NOT deleted AND resource = ANY ($1)`,
      [unread.map(([resource]) => resource)],
    );
    this.#low ??= rows[0]!.low;
    for (const [resource, followed] of unread) {
      const own = rows.filter((row) => row.no !== null && row.resource === resource);
      followed.known = new Map(own.map(({ no, version, asked, subagent }) => [no, { version, asked, subagent }]));
    }
  }

  async #readReported(): Promise<void> {
    const reported = [...this.#reported];
    this.#reported.clear();
    const text = `SELECT ${COLUMNS} FROM cinch.threads t JOIN cinch.heads h ON h.thread = t.no WHERE t.no = ANY ($1)`;
    const rows = await this.#database.look<ChangedRow>(text, [reported]);
    this.#announceAll(rows);
  }

  async #readChanged(): Promise<void> {
    this.#isPolling = false;
    const rows = await this.#database.read<ChangedRow & { low: string }>(
      `SELECT ${COLUMNS}, pg_snapshot_xmin(s.now)::text AS low FROM (SELECT pg_current_snapshot() AS now) AS s
       LEFT JOIN (cinch.threads t JOIN cinch.heads h ON h.thread = t.no) ON t.changed >= $1::xid8 AND t.changed < pg_snapshot_xmax(s.now)`,
      [this.#low ?? "0"],
    );
    this.#low = rows[0]!.low;
    this.#announceAll(rows.filter(({ no }) => no !== null));
  }

  #announceAll(rows: readonly ChangedRow[]): void {
    for (const row of rows.toSorted((a, b) => a.touched - b.touched)) this.#announce(row);
  }

  #announce(row: ChangedRow): void {
    if (row.deleted) return this.#announceDeleted(row);
    const { readers, known } = this.#followed.get(row.resource) ?? {};
    const before = known?.get(row.no);
    if (!readers || !known || (before && before.version >= row.version)) return;
    const { no, version, asked, subagent } = row;
    const thread = listedRecordOf(row);
    known.set(no, { version, asked, subagent });
    for (const reader of readers) {
      if (!subagent) reader.push({ kind: before ? "changed" : "created", thread });
      if (asked > (before?.asked ?? 0)) reader.push({ kind: "pending", threadId: thread.id });
    }
  }

  #announceDeleted(row: ChangedRow): void {
    for (const { readers, known } of this.#followed.values()) {
      const before = known?.get(row.no);
      if (!known?.delete(row.no) || before?.subagent) continue;
      for (const reader of readers) reader.push({ kind: "deleted", threadId: unescapeText(row.id) });
    }
  }
}
