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

/** Reads the calls of messages after an event. It reads no further than it must. */
export async function wholeCalls(
  seat: RemoteSession,
  { after, callIds }: { after: number; callIds: ReadonlySet<string> },
): Promise<ReadonlyMap<string, WholeCall>> {
  const found = new Map<string, WholeCall>();
  const missing = new Set(callIds);
  for (let from = after; missing.size > 0;) {
    const events = await seat.listEvents({ after: from, limit: PAGE });
    if (events.length === 0) break;
    for (const event of events) take(event, { found, missing });
    from = events.at(-1)!.seq;
  }
  return found;
}

function take(event: HarnessEvent, { found, missing }: { found: Map<string, WholeCall>; missing: Set<string> }): void {
  if (event.type === "message_end")
    for (const part of event.message.content)
      if (part.type === "tool-call" && missing.has(part.toolCallId)) found.set(part.toolCallId, { input: part.input });
  if (event.type === "tool_end" && missing.has(event.toolCallId)) {
    found.set(event.toolCallId, { ...found.get(event.toolCallId), result: event.result });
    missing.delete(event.toolCallId);
  }
}
