import type { Blob, Lease, questionChange, SavedFold } from "@cinch/core/store";
import type { ErrorCode } from "@cinch/core";

export type QuestionChange = NonNullable<ReturnType<typeof questionChange>>;

/** An event for the writer. It is already JSON, so that the writer parses only the few events whose fields it needs. */
export interface SerializedEvent {
  type: string;
  at: number;
  body: string;
  /** Every string in a `blob` field. Not each of them is a hash. */
  hashes: string[];
  /** What it does to the questions of the thread to a person. */
  question?: QuestionChange;
}

export interface AppendWork {
  kind: "append";
  threadId: string;
  events: SerializedEvent[];
  afterSeq: number;
  epoch?: number;
  take?: number;
  release: boolean;
  active?: boolean | undefined;
  awake?: boolean | undefined;
  dueAt?: number | null | undefined;
  /** Whether one of the events needs the lease. */
  driver: boolean;
  blobs: Blob[];
}

/** A request of the main thread. All but `others`, `catch_up` and `close` share a transaction with the other requests that wait. */
export type Work =
  | AppendWork
  | { kind: "delete"; threadId: string }
  | { kind: "announce"; address: string }
  | { kind: "release"; threadId: string; epoch: number }
  | { kind: "draft"; threadId: string; epoch: number; body: string }
  | { kind: "fold"; threadId: string; fold: SavedFold }
  /** Whether connections other than the writer's have committed. */
  | { kind: "others" }
  | { kind: "catch_up" }
  | { kind: "close" };

export type WorkOutcome =
  | { kind: "appended"; seq: number; epoch: number; driven: boolean }
  /** The main thread reads the newer events itself. */
  | { kind: "newer" }
  | { kind: "refused"; lease: Lease }
  | { kind: "done" }
  /** Changes whenever another connection has committed. */
  | { kind: "others"; version: number }
  | { kind: "failed"; failure: Failure };

/** A `CinchError` as it is sent between threads. */
export interface Failure {
  code: ErrorCode;
  message: string;
  cause?: string;
}

export interface Request {
  id: number;
  work: Work;
}

export interface Reply {
  id: number;
  outcome: WorkOutcome;
}

export type Instruction = Request | { watch: string };

/** `open` is sent once, before all other messages. */
export type ToWriter = { open: WriterOptions } | { instructions: readonly Instruction[] };

export type FromWriter =
  | { kind: "ready" }
  | { kind: "unusable"; failure: Failure }
  | { kind: "replies"; replies: Reply[] }
  /** All holders that are dead by their counters, with the counter that did not change. Replaces the previous list. */
  | { kind: "verdicts"; dead: [holder: string, counter: number][] };

export interface WriterOptions {
  path: string;
  holder: string;
  busyMs: number;
  renewMs: number;
  periodMs: number;
  indexMs: number;
}

/** The key of an event combines its journal and `seq` in one safe integer, so that a journal is one range of the table. */
export const SEQS = 2 ** 28;
export const keyOf = (journal: number, seq: number): number => journal * SEQS + seq;
