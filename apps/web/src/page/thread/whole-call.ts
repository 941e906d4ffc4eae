import type { RemoteSession } from "@cinch/client";
import type { HarnessEvent, Json, ToolResult } from "@cinch/core";

/** The arguments and the result of a call, as the journal has them. */
export interface WholeCall {
  input?: Json;
  result?: ToolResult;
}

const PAGE = 500;

/** Whether the server has cut the value: the display is short, and `listEvents` has all of it. */
export const isCut = (value: object | undefined): boolean => value !== undefined && "cut" in value;

/** A call: its id alone is that of others in later messages, too. */
interface CallPlace {
  /** Of its message. */
  seq: number;
  toolCallId: string;
}

export const placeKey = ({ seq, toolCallId }: CallPlace): string => `${seq} ${toolCallId}`;

/** Reads calls, by their `placeKey`. It reads no further than it must. */
export async function wholeCalls(
  seat: RemoteSession,
  calls: readonly CallPlace[],
): Promise<ReadonlyMap<string, WholeCall>> {
  const found = new Map<string, WholeCall>();
  const missing = new Set(calls.map(placeKey));
  /** The message that has asked last for a call with this id. */
  const asked = new Map<string, number>();
  for (let after = Math.min(...calls.map(({ seq }) => seq)) - 1; missing.size > 0;) {
    const events = await seat.listEvents({ after, limit: PAGE });
    if (events.length === 0) break;
    for (const event of events) take(event, { found, missing, asked });
    after = events.at(-1)!.seq;
  }
  return found;
}

interface Reading {
  found: Map<string, WholeCall>;
  missing: Set<string>;
  asked: Map<string, number>;
}

function take(event: HarnessEvent, { found, missing, asked }: Reading): void {
  if (event.type === "message_end")
    for (const part of event.message.content) {
      if (part.type !== "tool-call") continue;
      const { toolCallId, input } = part;
      const { seq } = event;
      asked.set(toolCallId, seq);
      if (missing.has(placeKey({ seq, toolCallId }))) found.set(placeKey({ seq, toolCallId }), { input });
    }
  if (event.type === "tool_end") {
    const { toolCallId, result } = event;
    const key = placeKey({ seq: asked.get(toolCallId) ?? 0, toolCallId });
    if (missing.delete(key)) found.set(key, { ...found.get(key), result });
  }
}
