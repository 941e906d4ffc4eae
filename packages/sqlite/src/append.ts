import type { FoldRows } from "./fold-rows.ts";
import type { JournalRows } from "./journal-rows.ts";
import type { LeaseRow, LeaseRows } from "./lease-rows.ts";
import { StoreFailure } from "./failure.ts";
import type { AppendWork, WorkOutcome } from "./protocol.ts";
import { createsThread } from "./serialized-event.ts";
import { threadChange, type ThreadRow, type ThreadRows } from "./thread-rows.ts";

export interface Tables {
  threads: ThreadRows;
  leases: LeaseRows;
  journals: JournalRows;
  folds: FoldRows;
}

/** Runs one append. The caller begins and ends the transaction. */
export function append(tables: Tables, work: AppendWork, now: number): WorkOutcome {
  const found = tables.threads.find(work.threadId);
  const [first] = work.events;
  const creates = first !== undefined && createsThread(first);
  const thread = found || !creates ? tables.threads.get(work.threadId) : undefined;
  const lease = thread ? tables.leases.row(thread.no) : { epoch: 0, holder: null };

  const refused: WorkOutcome = { kind: "refused", lease: tables.leases.status(lease, now) };
  if (work.epoch !== undefined && (lease.epoch !== work.epoch || !tables.leases.isMine(lease))) return refused;
  if (thread && (creates || tables.journals.lastSeq(thread.no) > work.afterSeq)) return { kind: "newer" };
  if (work.take !== undefined && (lease.epoch !== work.take || !mayBeTaken(refused.lease.status))) return refused;
  if (work.driver && work.epoch === undefined && work.take === undefined) return refused;
  const isDriven = !mayBeTaken(refused.lease.status);
  return write(tables, work, { thread: thread ?? create(tables, work), lease, isDriven });
}

const mayBeTaken = (status: string): boolean => status === "free" || status === "dead";

function create({ threads, journals }: Tables, { threadId, events, afterSeq }: AppendWork): ThreadRow {
  const first = events[0]!;
  const { parent } = JSON.parse(first.body) as { parent?: { seq: number } };
  const expected = first.type === "thread_cloned" ? parent?.seq : 0;
  if (afterSeq !== expected) {
    throw new StoreFailure(
      "INVALID_INPUT",
      `"${first.type}" must be appended after ${expected}, not after ${afterSeq}.`,
    );
  }
  threads.create(threadId, first, (no) => journals.lastSeq(no));
  return threads.get(threadId);
}

function write(
  { threads, leases, journals }: Tables,
  work: AppendWork,
  { thread, lease, isDriven }: { thread: ThreadRow; lease: LeaseRow; isDriven: boolean },
): WorkOutcome {
  const { events, afterSeq, take, release } = work;
  const { no } = thread;
  const last = Math.max(journals.lastSeq(no), events[0]?.type === "thread_cloned" ? afterSeq : 0);
  if (last < afterSeq) {
    throw new StoreFailure(
      "INVALID_INPUT",
      `"${work.threadId}" ends at ${last}, so nothing can be appended after ${afterSeq}.`,
    );
  }
  const epoch = lease.epoch + (take === undefined ? 0 : 1);
  if (take !== undefined) leases.take(no, lease);
  if (release) leases.free(no, epoch);

  journals.write(no, work);
  for (const [at, { type, body }] of events.entries()) {
    if (type !== "thread_rewound") continue;
    const { toSeq } = JSON.parse(body) as { toSeq: number };
    const seq = afterSeq + 1 + at;
    if (toSeq >= seq) throw new StoreFailure("INVALID_INPUT", `Event ${seq} cannot rewind to ${toSeq}.`);
    for (const journal of threads.rewind(no, { toSeq, seq })) journals.purge(journal);
  }
  const seq = afterSeq + events.length;
  threads.update(thread, threadChange(work), seq);
  if (take !== undefined || events.some(({ type }) => endsDraft(type))) journals.dropDraft(no);
  return { kind: "appended", seq, epoch, driven: !release && (isDriven || take !== undefined) };
}

const endsDraft = (type: string): boolean => type === "message_end" || type === "agent_end";

/** Deletes the thread and its subagents' threads. Returns their ids. */
export function deleteThread({ threads, leases, journals, folds }: Tables, threadId: string): string[] {
  const family = threads.family(threadId);
  for (const journal of threads.leaveTombstones(family)) journals.purge(journal);
  for (const { no } of family) {
    journals.dropDraft(no);
    folds.drop(no);
    leases.free(no, leases.row(no).epoch + 1);
  }
  return family.map(({ id }) => id);
}
