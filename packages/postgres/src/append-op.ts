import { crc32 } from "node:zlib";
import { CinchError } from "@cinch/core";
import { needsLease, questionChange, type AppendOptions, type StampedEvent } from "@cinch/core/store";
import { escapeKey, escapeText } from "./escaped-text.ts";
import { foldedTitle } from "./search-words.ts";

/** An append as `append_many` takes it. What is left out is null there. */
export interface AppendOp {
  id: string;
  after: number;
  count: number;
  epoch?: number;
  take?: number;
  release?: boolean;
  active?: boolean;
  awake?: boolean;
  /** Null: never. Counts if `is_due_given`. */
  due_at?: number | null;
  is_due_given?: boolean;
  driver: boolean;
  nonce: number;
  /** The answer to an earlier attempt was lost. */
  retry?: boolean;
  created?: Creation;
  touched_at?: number;
  title?: string;
  folded?: string;
  questions?: string[];
  rewinds?: [toSeq: number, seq: number][];
  ends_draft: boolean;
  searched: boolean;
  events: { seq: number; checksum: number; input?: number; body: string }[];
  refs?: [seq: number, hash: string][];
}

interface Creation {
  title: string;
  folded: string;
  resource?: string;
  parent?: string;
  source?: string;
  subagent: boolean;
  metadata?: string;
  at: number;
}

const MAX_SEQ = 2 ** 31 - 2;
const MAX_HASH_CHARS = 256;

/** Throws `INVALID_INPUT` for an append that makes no sense. */
export function appendOpOf(threadId: string, events: readonly StampedEvent[], options: AppendOptions): AppendOp {
  const { afterSeq: after, epoch, take, release, active, awake, dueAt } = options;
  validate(threadId, events, options);
  const op: AppendOp = {
    id: escapeKey("The id of the thread", threadId),
    after,
    count: events.length,
    epoch,
    take,
    active,
    awake,
    driver: events.some((event, at) => needsLease(event) && !(at === 0 && isCreation(event))),
    nonce: newNonce(),
    ends_draft: false,
    searched: false,
    events: [],
  };
  if (release) op.release = true;
  if (dueAt !== undefined) Object.assign(op, { due_at: dueAt && wholeMs(dueAt), is_due_given: true });
  if (events[0] && isCreation(events[0])) op.created = creationOf(events[0], after);
  for (const [at, event] of events.entries()) addEvent(op, event, after + 1 + at);
  return op;
}

function validate(threadId: string, events: readonly StampedEvent[], options: AppendOptions): void {
  const { afterSeq, epoch, take, release, dueAt } = options;
  if (Number.isNaN(dueAt)) throw invalid("A thread's dueAt is a time in ms, or null.");
  if (!threadId || !threadId.isWellFormed()) throw invalid("A thread's id must be well-formed text.");
  const isSeq = Number.isInteger(afterSeq) && afterSeq >= 0 && afterSeq + events.length <= MAX_SEQ;
  if (!isSeq) throw invalid(`Nothing can be appended after ${afterSeq}: a seq is a whole number up to ${MAX_SEQ}.`);
  if (epoch !== undefined && take !== undefined)
    throw invalid("A lease is either held (epoch) or taken (take), not both.");
  if (release && epoch === undefined && take === undefined)
    throw invalid("An append that releases a lease must hold it (epoch) or take it (take).");
  if (events.slice(1).some(isCreation)) throw invalid("An event that creates a thread must be its first event.");
}

function creationOf(event: StampedEvent, after: number): Creation | undefined {
  if (event.type === "thread_created") {
    const { title, resourceId, parent, agent, metadata = {}, at } = event;
    const owner = agent?.owner ?? parent?.threadId;
    if (after !== 0) throw invalid(`"thread_created" must be appended after 0, not after ${after}.`);
    return {
      ...titleOf(title),
      resource: escapeKey("The id of the resource", resourceId),
      parent: owner === undefined ? undefined : escapeText(owner),
      subagent: owner !== undefined,
      metadata: JSON.stringify(metadata),
      at,
    };
  }
  if (event.type !== "thread_cloned") return undefined;
  const { title, parent, agent, at } = event;
  if (after !== parent.seq) throw invalid(`"thread_cloned" must be appended after ${parent.seq}, not after ${after}.`);
  return {
    ...titleOf(title),
    parent: escapeText(agent?.owner ?? parent.threadId),
    source: escapeText(parent.threadId),
    subagent: (agent ?? parent.toolCallId) !== undefined,
    at,
  };
}

/** A deadline may be any number of milliseconds from now. */
const wholeMs = (at: number): number => Math.min(Math.ceil(Math.max(0, at)), Number.MAX_SAFE_INTEGER);

const titleOf = (title: string): { title: string; folded: string } => ({
  title: escapeText(title),
  folded: foldedTitle(title),
});

function addEvent(op: AppendOp, event: StampedEvent, seq: number): void {
  const body = JSON.stringify(event);
  const input = event.type === "input_accepted" ? inputKey(event.inputId) : undefined;
  op.events.push({ seq, checksum: eventChecksum(seq, body), input, body });
  if (body.includes('"blob":')) for (const hash of hashesOf(event)) (op.refs ??= []).push([seq, escapeText(hash)]);
  const question = questionChange(event);
  if (question) (op.questions ??= []).push(question);
  switch (event.type) {
    case "thread_renamed":
      Object.assign(op, titleOf(event.title));
      op.touched_at = event.at;
      break;
    case "thread_rewound":
      if (event.toSeq >= seq) throw invalid(`Event ${seq} cannot rewind to ${event.toSeq}.`);
      (op.rewinds ??= []).push([event.toSeq, seq]);
      op.touched_at = event.at;
      break;
    case "input_accepted":
      op.touched_at = event.at;
      break;
    case "agent_end":
      op.touched_at = event.at;
      op.ends_draft = true;
      break;
    case "message_end":
      op.ends_draft = true;
      op.searched = true;
      break;
    case "tool_end":
    case "context_offloaded":
      op.searched = true;
      break;
  }
}

/** Covers the `seq` as well, so that a moved row is detected. Signed, as Postgres stores it. */
export const eventChecksum = (seq: number, body: string): number => crc32(body, crc32(String(seq))) | 0;

/** Finds candidates for an input: several ids may have the same key. */
export const inputKey = (inputId: unknown): number => crc32(String(inputId)) | 0;

/** The strings in `blob` fields, at any depth. Not each of them is a hash. */
function* hashesOf(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, field] of Object.entries(value)) {
    if (typeof field === "object") yield* hashesOf(field);
    else if (key === "blob" && typeof field === "string" && field.length <= MAX_HASH_CHARS) yield field;
  }
}

/** Identifies an attempt to write, so that its repetition is recognised. */
export const newNonce = (): number => Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);

const isCreation = ({ type }: StampedEvent): boolean => type === "thread_created" || type === "thread_cloned";

const invalid = (message: string): CinchError => new CinchError("INVALID_INPUT", message);
