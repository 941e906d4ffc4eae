import type { DatabaseSync } from "node:sqlite";
import type { StampedEvent } from "@cinch/core";
import { StoreFailure } from "./failure.ts";
import type { Row } from "./protocol.ts";
import { sql } from "./sql.ts";

export interface ThreadRow {
  no: number;
  resource: string;
  metadata: string;
  active: number;
  deleted: number;
}

interface Member {
  no: number;
  id: string;
}

interface Segment {
  journal: number;
  from_seq: number;
  to_seq: number | null;
}

/** What an append changes in the row that lists show. */
interface ThreadChange {
  title?: string;
  updatedAt?: number;
  active?: boolean;
}

/** Threads and the journal segments they read. A thread's own journal has the thread's number. */
export class ThreadRows {
  readonly #find;
  readonly #insert;
  readonly #touch;
  readonly #activate;
  readonly #bury;
  readonly #segments;
  readonly #addSegment;
  readonly #dropSegments;
  readonly #closeSegments;
  readonly #isRead;
  readonly #isBuried;
  readonly #family;

  constructor(db: DatabaseSync) {
    const nextTouch = "(SELECT coalesce(max(touched), 0) + 1 FROM threads WHERE deleted = 0)";
    this.#find = sql<ThreadRow>(db, "SELECT no, resource, metadata, active, deleted FROM threads WHERE id = ?");
    this.#insert = sql<{ no: number }>(
      db,
      `INSERT INTO threads (id, title, resource, parent, subagent, created_at, updated_at, touched, metadata, active, deleted)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ${nextTouch}, ?7, 0, 0) RETURNING no`,
    );
    this.#touch = sql(
      db,
      `UPDATE threads SET title = coalesce(?2, title), updated_at = ?3, touched = ${nextTouch}, active = ?4, last = ?5 WHERE no = ?1`,
    );
    this.#activate = sql(db, "UPDATE threads SET active = ?2 WHERE no = ?1");
    this.#bury = sql(
      db,
      "UPDATE threads SET title = '', resource = '', parent = NULL, metadata = '{}', active = 0, deleted = 1 WHERE no = ?",
    );
    this.#segments = sql<Segment>(db, "SELECT journal, from_seq, to_seq FROM segments WHERE thread = ? ORDER BY idx");
    this.#addSegment = sql(
      db,
      `INSERT INTO segments (thread, idx, journal, from_seq, to_seq)
       VALUES (?1, (SELECT coalesce(max(idx), 0) + 1 FROM segments WHERE thread = ?1), ?2, ?3, ?4)`,
    );
    this.#dropSegments = sql(db, "DELETE FROM segments WHERE thread = ?1 AND from_seq > ?2");
    this.#closeSegments = sql(
      db,
      "UPDATE segments SET to_seq = ?2 WHERE thread = ?1 AND (to_seq IS NULL OR to_seq > ?2)",
    );
    this.#isRead = sql(db, "SELECT 1 FROM segments WHERE journal = ? LIMIT 1");
    this.#isBuried = sql(db, "SELECT 1 FROM threads WHERE no = ? AND deleted = 1");
    this.#family = sql<Member>(
      db,
      `WITH RECURSIVE family (no, id) AS (
         SELECT no, id FROM threads WHERE no = ?
         UNION SELECT child.no, child.id FROM family JOIN threads AS child ON child.parent = family.id
         WHERE child.subagent = 1 AND child.deleted = 0
       ) SELECT no, id FROM family`,
    );
  }

  /** A deleted thread is found too: it is a tombstone, and its id is never given again. */
  find(threadId: string): ThreadRow | undefined {
    return this.#find.get(threadId);
  }

  /** The live thread of this id. */
  get(threadId: string): ThreadRow {
    const row = this.find(threadId);
    if (!row || row.deleted) {
      throw new StoreFailure(
        "THREAD_NOT_FOUND",
        `There is no thread "${threadId}". listThreads() shows the ones there are.`,
      );
    }
    return row;
  }

  /** `lastSeq` tells how far a thread reaches. */
  create(threadId: string, first: Row, lastSeq: (no: number) => number): number {
    const event = JSON.parse(first.body) as StampedEvent;
    if (event.type === "thread_created") {
      const { title, resourceId, parent, metadata = {}, at } = event;
      // A subagent's thread goes with its parent, so one that came later would never go.
      if (parent) this.get(parent.threadId);
      const subagent = Number(parent !== undefined);
      const no = this.#make(threadId, [
        title,
        resourceId,
        parent?.threadId ?? null,
        subagent,
        at,
        JSON.stringify(metadata),
      ]);
      this.#addSegment.run(no, no, 1, null);
      return no;
    }
    if (event.type !== "thread_cloned")
      throw new StoreFailure("INVALID_INPUT", `"${event.type}" does not make a thread.`);
    const { title, parent, at } = event;
    const source = this.get(parent.threadId);
    if (parent.seq > lastSeq(source.no)) {
      throw new StoreFailure("INVALID_INPUT", `"${parent.threadId}" has no event ${parent.seq} to clone at.`);
    }
    const subagent = Number(parent.toolCallId !== undefined);
    const no = this.#make(threadId, [title, source.resource, parent.threadId, subagent, at, source.metadata]);
    for (const { journal, from_seq: from, to_seq: to } of this.#segments.all(source.no)) {
      if (from <= parent.seq) this.#addSegment.run(no, journal, from, Math.min(to ?? parent.seq, parent.seq));
    }
    this.#addSegment.run(no, no, parent.seq + 1, null);
    return no;
  }

  #make(threadId: string, columns: (string | number | null)[]): number {
    return this.#insert.get(threadId, ...columns)!.no;
  }

  /** `last`: the newest event. Noted only where the row changes anyway: an append need not write another page for it. */
  update({ no, active }: ThreadRow, change: ThreadChange, last: number): void {
    const next = Number(change.active ?? active);
    if (change.updatedAt !== undefined) this.#touch.run(no, change.title ?? null, change.updatedAt, next, last);
    else if (next !== active) this.#activate.run(no, next);
  }

  /** Returns the journals that nobody reads any more. */
  rewind(no: number, { toSeq, seq }: { toSeq: number; seq: number }): number[] {
    const before = this.#journals(no);
    this.#dropSegments.run(no, toSeq);
    this.#closeSegments.run(no, toSeq);
    this.#addSegment.run(no, no, seq, null);
    return this.#unread(before);
  }

  /** The thread, its subagents' threads, and theirs. */
  family(threadId: string): Member[] {
    return this.#family.all(this.get(threadId).no);
  }

  /** Leaves tombstones. Returns the journals that are nobody's own any more: only what clones read of them is needed. */
  bury(family: readonly Member[]): number[] {
    const before = new Set(family.flatMap(({ no }) => this.#journals(no)));
    for (const { no } of family) {
      this.#dropSegments.run(no, -1);
      this.#bury.run(no);
    }
    return [...before].filter((journal) => this.#isBuried.get(journal));
  }

  #journals(no: number): number[] {
    return [...new Set(this.#segments.all(no).map(({ journal }) => journal))];
  }

  #unread(journals: number[]): number[] {
    return journals.filter((journal) => !this.#isRead.get(journal));
  }
}

/** What the events of one append do to the thread's row. `release`: the lease is let go with them. */
export function threadChange(rows: readonly Row[], release: boolean): ThreadChange {
  const change: ThreadChange = {};
  for (const { type, at, body } of rows) {
    switch (type) {
      case "thread_renamed":
        change.title = (JSON.parse(body) as { title: string }).title;
        change.updatedAt = at;
        break;
      case "input_accepted":
        change.active = true;
        change.updatedAt = at;
        break;
      case "agent_start":
      case "tool_resumed":
        change.active = true;
        break;
      case "agent_end":
      case "thread_rewound":
        if (release) change.active = false;
        change.updatedAt = at;
        break;
    }
  }
  return change;
}
