import type { StampedEvent } from "@cinch/core/store";
import type { SerializedEvent } from "./protocol.ts";

const MAX_HASH_CHARS = 256;

export function serializeEvent(event: StampedEvent): SerializedEvent {
  const body = JSON.stringify(event);
  return { type: event.type, at: event.at, body, hashes: body.includes('"blob":') ? [...hashesIn(event)] : [] };
}

/** The strings in `blob` fields, at any depth. */
function* hashesIn(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, field] of Object.entries(value)) {
    if (typeof field === "object") yield* hashesIn(field);
    else if (key === "blob" && typeof field === "string" && field.length <= MAX_HASH_CHARS) yield field;
  }
}

export const createsThread = (event: { type: string }): boolean =>
  event.type === "thread_created" || event.type === "thread_cloned";
