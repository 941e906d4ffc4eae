import type { Session } from "@cinch/core";
import { briefEvent } from "../../brief/brief-event.ts";
import { beforeTurn, eventsAfter } from "../turn-events.ts";
import { foldChunks, isOver, lastStep, waitingEnd } from "./chunk-fold.ts";
import { newChunkState, type ToolPartState, type TurnView } from "./chunk-state.ts";
import type { UiChunk } from "./ui-chunk.ts";

interface TurnRead extends TurnView {
  /** What the client has: events up to this one. 0: it gets the whole turn. */
  after: number;
  /** Calls of subagents that the client shows. They are not in the journal of the thread. */
  shownCalls: Readonly<Record<string, ToolPartState>>;
  signal: AbortSignal;
}

/** The chunks of one turn, until it ends or waits for a person. */
export async function* turnChunks(
  session: Session,
  read: TurnRead,
): AsyncGenerator<readonly UiChunk[], void, undefined> {
  const { turnId, after, shownCalls, signal } = read;
  const start = await beforeTurn(session, turnId);
  if (after > 0) yield [{ type: "start", messageId: turnId }];
  if (start === undefined) return yield nothingMore(after);
  let state = { ...newChunkState(read), calls: shownCalls };
  let hasShown = false;
  for await (const { event, isNewest } of eventsAfter(session, { after: start, signal })) {
    const [next, chunks] = foldChunks(state, briefEvent(event));
    state = next;
    const isShown = !("v" in event) || event.seq > after;
    if (isShown && chunks.length > 0) yield chunks;
    hasShown ||= isShown && chunks.length > 0;
    if (isOver(state)) return hasShown ? undefined : yield nothingMore(state.seq);
    const end = isNewest ? waitingEnd(state) : null;
    if (end) return yield end;
  }
}

const nothingMore = (seq: number): UiChunk[] => [
  ...lastStep({ isStepOpen: false, hasCalls: true }),
  { type: "finish", finishReason: "stop", messageMetadata: { seq, status: "ended" } },
];
