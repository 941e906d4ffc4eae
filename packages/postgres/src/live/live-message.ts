import type { LiveFrame, LivePosition } from "@cinch/core";

/** What a reader asks of a driver's process, under a number that it has chosen. */
export type LiveRequest = { follow: number; threadId: string; from?: LivePosition } | { leave: number };

/** A frame for the request with this number. */
export interface LiveMessage {
  no: number;
  frame: LiveFrame;
}

/** A request is short, whatever the id of its thread. */
export const MAX_REQUEST_CHARS = 16_000;
/** A larger frame is not sent. */
export const MAX_FRAME_CHARS = 8_000_000;

/** Throws if the line is no request. */
export function parseRequest(line: string): LiveRequest {
  const { follow, leave, threadId, from } = recordOf(JSON.parse(line));
  if (isNumber(leave)) return { leave };
  if (!isNumber(follow) || typeof threadId !== "string") throw new Error("It is no request.");
  if (from === undefined) return { follow, threadId };
  const { epoch, next } = recordOf(from);
  if (!isNumber(epoch) || !isNumber(next)) throw new Error("It is no position.");
  return { follow, threadId, from: { epoch, next } };
}

/** Throws if the line is no message. The thread checks the events in it. */
export function parseMessage(line: string): LiveMessage {
  const { no, frame } = recordOf(JSON.parse(line));
  const { kind, epoch, next, seq, first, events } = recordOf(frame);
  if (!isNumber(no)) throw new Error("It is no message.");
  if (kind === "ended") return { no, frame: { kind } };
  const isShown = kind === "shown" && isNumber(next) && isNumber(seq);
  const isEvents = kind === "events" && isNumber(first);
  const areEvents = Array.isArray(events) && events.every(isRecord);
  if (!isNumber(epoch) || !(isShown || isEvents) || !areEvents) throw new Error("It is no frame.");
  return { no, frame: frame as LiveFrame };
}

const isNumber = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

function recordOf(value: unknown): Record<string, unknown> {
  if (!isRecord(value)) throw new Error("It is no object.");
  return value;
}
