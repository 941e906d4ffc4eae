import { crc32 } from "node:zlib";
import type { DurableEvent } from "@cinch/core";
import { SEQS } from "./protocol.ts";

/** `sum` is null in rows that were written before rows had one. */
export type EventRow = [key: number, body: string, sum: number | null];

/** Of the stored bytes and of their place, so that a row that was moved is noticed too. Signed, because SQLite keeps that in four bytes. */
export const checksumOf = (key: number, body: string): number => crc32(body, crc32(String(key))) | 0;

/** The event in a row, without its thread. `undefined` if the row is not what was written. */
export function eventIn([key, body, sum]: EventRow): DurableEvent | undefined {
  if (typeof body !== "string" || (sum !== null && sum !== checksumOf(key, body))) return undefined;
  const event = parsed(body);
  if (typeof event !== "object" || event === null || Array.isArray(event)) return undefined;
  (event as DurableEvent).seq = key % SEQS;
  return event as DurableEvent;
}

/** Without a checksum, text that is no JSON is the only sign of damage. */
export function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
