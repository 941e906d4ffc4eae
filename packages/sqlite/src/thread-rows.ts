import type { DatabaseSync } from "node:sqlite";
import type { StampedEvent } from "@cinch/core/store";
import { StoreFailure, threadNotFoundMessage } from "./failure.ts";
import type { AppendWork, QuestionChange, SerializedEvent } from "./protocol.ts";
import { LAST_CHANGE } from "./schema.ts";
import { sql } from "./sql.ts";

export interface ThreadRow {
  no: number;
  resource: string;
  metadata: string;
  active: number;
  woken_at: number | null;
  due_at: number | null;
  /** 1 from a question to a person until its turn ends. */
  asking: number;
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

/** The columns of a thread's row that an append changes. */
interface ThreadChange {
  title?: string;
  updatedAt?: number;
  active?: boolean;
  awake?: boolean;
  dueAt?: number | null;
  questions: QuestionChange[];
}

/** Threads and the journal segments they read. The journal of a thread has the number of the thread. */
export class ThreadRows {
  readonly #find;
  readonly #insert;
  readonly #touch;
  readonly #activate;
  readonly #wake;
  readonly #schedule;
  readonly #ask;
  readonly #setTombstone;
  readonly #segments;
  readonly #addSegment;
  readonly #dropSegments;
  readonly #closeSegments;
  readonly #isRead;
  readonly #isTombstone;
  readonly #family;

  constructor(db: DatabaseSync) {
    const nextChange = `(${LAST_CHANGE} + 1)`;
    this.#find = sql<ThreadRow>(
      db,
      "SELECT no, resource, metadata, active, woken_at, due_at, asking, deleted FROM threads WHERE id = ?",
    );
    this.#insert = sql<{ no: number }>(
      db,
      `INSERT INTO threads (id, title, resource, parent, subagent, created_at, updated_at, touched, metadata, active, deleted, changed)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ${nextChange}, ?7, 0, 0, ${nextChange}) RETURNING no`,
    );
    this.#touch = sql(
      db,
      `UPDATE threads SET title = coalesce(?2, title), updated_at = ?3, touched = ${nextChange}, active = ?4, last = ?5,
         woken_at = ?6, changed = ${nextChange} WHERE no = ?1`,
    );
    this.#activate = sql(db, `UPDATE threads SET active = ?2, woken_at = ?3, changed = ${nextChange} WHERE no = ?1`);
    // Alone: a statement that sets an indexed column writes the index, even if the value stays.
    this.#wake = sql(db, "UPDATE threads SET woken_at = ?2 WHERE no = ?1");
    this.#schedule = sql(db, "UPDATE threads SET due_at = ?2 WHERE no = ?1");
    this.#ask = sql(db, `UPDATE threads SET asking = ?2, changed = ${nextChange}, asked = ${nextChange} WHERE no = ?1`);
    this.#setTombstone = sql(
      db,
      `UPDATE threads SET title = '', resource = '', parent = NULL, metadata = '{}', active = 0, woken_at = NULL, due_at = NULL, deleted = 1, changed = ${nextChange} WHERE no = ?`,
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
    this.#isTombstone = sql(db, "SELECT 1 FROM threads WHERE no = ? AND deleted = 1");
    this.#family = sql<Member>(
      db,
      `WITH RECURSIVE family (no, id) AS (
         SELECT no, id FROM threads WHERE no = ?
         UNION SELECT child.no, child.id FROM family JOIN threads AS child ON child.parent = family.id
         WHERE child.subagent = 1 AND child.deleted = 0
       ) SELECT no, id FROM family`,
    );
  }

  /** Also finds the tombstone of a deleted thread, whose id is never used again. */
  find(threadId: string): ThreadRow | undefined {
    return this.#find.get(threadId);
  }

  /** Throws `THREAD_NOT_FOUND` if the thread does not exist or was deleted. */
  get(threadId: string): ThreadRow {
    const row = this.find(threadId);
    if (!row || row.deleted) {
      throw new StoreFailure("THREAD_NOT_FOUND", threadNotFoundMessage(threadId));
    }
    return row;
  }

  /** `lastSeq` returns the newest `seq` of a journal. */
  create(threadId: string, first: SerializedEvent, lastSeq: (no: number) => number): number {
    const event = JSON.parse(first.body) as StampedEvent;
    if (event.type === "thread_created") {
      const { title, resourceId, parent, agent, metadata = {}, at } = event;
      const parentId = agent?.owner ?? parent?.threadId ?? null;
      // A deletion of the parent deletes its subagents, so one that is created afterwards would never be deleted.
      if (parentId !== null) this.get(parentId);
      const subagent = Number(parentId !== null);
      const no = this.#insertThread(threadId, [title, resourceId, parentId, subagent, at, JSON.stringify(metadata)]);
      this.#addSegment.run(no, no, 1, null);
      return no;
    }
    if (event.type !== "thread_cloned")
      throw new StoreFailure(
        "INVALID_INPUT",
        `"${event.type}" does not create a thread. Append "thread_created" or "thread_cloned" first.`,
      );
    const { title, parent, agent, at } = event;
    const parentId = agent?.owner ?? parent.threadId;
    this.get(parentId);
    const source = this.get(parent.threadId);
    if (parent.seq > lastSeq(source.no)) {
      throw new StoreFailure("INVALID_INPUT", `"${parent.threadId}" has no event ${parent.seq} to clone at.`);
    }
    const subagent = Number((agent ?? parent.toolCallId) !== undefined);
    const no = this.#insertThread(threadId, [title, source.resource, parentId, subagent, at, source.metadata]);
    for (const { journal, from_seq: from, to_seq: to } of this.#segments.all(source.no)) {
      if (from <= parent.seq) this.#addSegment.run(no, journal, from, Math.min(to ?? parent.seq, parent.seq));
    }
    this.#addSegment.run(no, no, parent.seq + 1, null);
    return no;
  }

  #insertThread(threadId: string, columns: (string | number | null)[]): number {
    return this.#insert.get(threadId, ...columns)!.no;
  }

  /** `last`: the newest event. Written only when the row changes anyway, to save an append the write of another page. */
  update(
    { no, active, asking, woken_at: wokenAt, due_at: dueAt }: ThreadRow,
    change: ThreadChange,
    last: number,
  ): void {
    const next = Number(change.active ?? active);
    const woken = change.awake === undefined ? wokenAt : wokenAfter(wokenAt, change.awake);
    if (change.updatedAt !== undefined) this.#touch.run(no, change.title ?? null, change.updatedAt, next, last, woken);
    else if (next !== active) this.#activate.run(no, next, woken);
    else if (woken !== wokenAt) this.#wake.run(no, woken);
    const due = change.dueAt === undefined ? dueAt : change.dueAt;
    if (due !== dueAt) this.#schedule.run(no, due);
    let isAsking = asking === 1;
    for (const question of change.questions) {
      if (question === "ended" && !isAsking) continue;
      isAsking = question !== "ended";
      this.#ask.run(no, Number(isAsking));
    }
  }

  /** Returns the journals that no thread reads any more. */
  rewind(no: number, { toSeq, seq }: { toSeq: number; seq: number }): number[] {
    const before = this.#journals(no);
    this.#dropSegments.run(no, toSeq);
    this.#closeSegments.run(no, toSeq);
    this.#addSegment.run(no, no, seq, null);
    return this.#unread(before);
  }

  /** The thread and all threads of its subagents, at any depth. */
  family(threadId: string): Member[] {
    return this.#family.all(this.get(threadId).no);
  }

  /** Returns the journals whose own thread is deleted: only the events that clones read are still needed. */
  leaveTombstones(family: readonly Member[]): number[] {
    const before = new Set(family.flatMap(({ no }) => this.#journals(no)));
    for (const { no } of family) {
      this.#dropSegments.run(no, -1);
      this.#setTombstone.run(no);
    }
    return [...before].filter((journal) => this.#isTombstone.get(journal));
  }

  #journals(no: number): number[] {
    return [...new Set(this.#segments.all(no).map(({ journal }) => journal))];
  }

  #unread(journals: number[]): number[] {
    return journals.filter((journal) => !this.#isRead.get(journal));
  }
}

const wokenAfter = (wokenAt: number | null, awake: boolean): number | null => (awake ? (wokenAt ?? Date.now()) : null);

export function threadChange({ events, active, awake, dueAt }: AppendWork): ThreadChange {
  const change: ThreadChange = {
    questions: [],
    ...(active === undefined ? {} : { active }),
    ...(awake === undefined ? {} : { awake }),
    ...(dueAt === undefined ? {} : { dueAt }),
  };
  for (const { type, at, body, question } of events) {
    if (question) change.questions.push(question);
    switch (type) {
      case "thread_renamed":
        change.title = (JSON.parse(body) as { title: string }).title;
        change.updatedAt = at;
        break;
      case "input_accepted":
      case "agent_end":
      case "thread_rewound":
        change.updatedAt = at;
        break;
    }
  }
  return change;
}
