import type { Blob, ErrorCode, Lease, SavedFold } from "@cinch/core";

/** An event on its way to the writer: already JSON, so that the writer parses only what it must understand. */
export interface Row {
  type: string;
  at: number;
  body: string;
  /** Every string under a `blob` field: some of them may be no hashes at all. */
  hashes: string[];
}

export interface AppendWork {
  kind: "append";
  threadId: string;
  rows: Row[];
  afterSeq: number;
  epoch?: number;
  take?: number;
  release: boolean;
  /** Whether there is an event in it that only a driver may append. */
  driver: boolean;
  blobs: Blob[];
}

/** What the main thread asks of the writer. All but `catch_up` and `close` share a transaction with whatever else waits. */
export type Work =
  | AppendWork
  | { kind: "delete"; threadId: string }
  | { kind: "release"; threadId: string; epoch: number }
  | { kind: "draft"; threadId: string; epoch: number; body: string }
  | { kind: "fold"; threadId: string; fold: SavedFold }
  | { kind: "catch_up" }
  | { kind: "close" };

export type Outcome =
  | { kind: "appended"; seq: number; epoch: number }
  /** The main thread reads the newer events itself. */
  | { kind: "newer" }
  | { kind: "refused"; lease: Lease }
  | { kind: "done" }
  | { kind: "failed"; failure: Failure };

/** A `CinchError` on its way between threads. */
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
  outcome: Outcome;
}

export type Instruction = Request | { watch: string };

/** `open` comes once, before all others. */
export type ToWriter = { open: WriterOptions } | Instruction;

export type FromWriter =
  | { kind: "ready" }
  | { kind: "unusable"; failure: Failure }
  | { kind: "replies"; replies: Reply[] }
  /** Holders whose counter, at this value, has stood still for a whole period. Replaces what was said before. */
  | { kind: "verdicts"; dead: [holder: string, counter: number][] };

export interface WriterOptions {
  path: string;
  holder: string;
  busyMs: number;
  renewMs: number;
  periodMs: number;
  indexMs: number;
}

/** An event's key is its journal and its `seq` in one safe integer, so that a journal is one range of one table. */
export const SEQS = 2 ** 28;
export const keyOf = (journal: number, seq: number): number => journal * SEQS + seq;
