import { crc32 } from "node:zlib";
import type { DurableEvent } from "@cinch/core";
import { SEQS } from "./protocol.ts";

/** `sum` is null in rows that a release before 0.3.0 wrote. */
export type EventRow = [key: number, body: string, sum: number | null];

/** Covers the key as well, so that a moved row is detected. Signed, because SQLite then needs four bytes for it. */
export const checksumOf = (key: number, body: string): number => crc32(body, crc32(String(key))) | 0;

/** The event in a row, without its `threadId`. `undefined` if the row is damaged. */
export function decodeEvent([key, body, sum]: EventRow): DurableEvent | undefined {
  if (typeof body !== "string" || (sum !== null && sum !== checksumOf(key, body))) return undefined;
  const event = tryParse(body);
  if (typeof event !== "object" || event === null || Array.isArray(event)) return undefined;
  (event as DurableEvent).seq = key % SEQS;
  return event as DurableEvent;
}

/** `undefined` for text that is not JSON. */
export function tryParse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
