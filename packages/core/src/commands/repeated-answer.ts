import { CinchError } from "../errors.ts";
import type { DurableEvent } from "../events/event-map.ts";
import { readEvent } from "../events/read-event.ts";
import type { Store } from "../ports/store.ts";
import type { Thread } from "../thread/thread.ts";
import type { WaitingState } from "./answer-target.ts";

/** How many events are read at once. */
const PAGE = 1_000;

export type AnswerEvent = DurableEvent<"tool_approval_resolved" | "tool_resumed">;
type QuestionEvent = DurableEvent<"tool_approval_required" | "tool_suspended">;

/** An answer of a person with a name, which says what question it is for: by its digest, or by its `seq`. */
export interface RepeatableAnswer {
  waiting: WaitingState;
  toolCallId?: string;
  /** Without it, the question may also be one of a descendant. */
  threadId?: string;
  isQuestion(event: QuestionEvent): boolean;
  /** Whether the same person has given the same answer. */
  isSame(given: AnswerEvent): Promise<boolean>;
}

const QUESTION = { asking: "tool_approval_required", suspended: "tool_suspended" } as const;
export const ANSWER = { asking: "tool_approval_resolved", suspended: "tool_resumed" } as const;

export const alreadyAnswered = (toolCallId: string): CinchError =>
  new CinchError("ALREADY_ANSWERED", `Call "${toolCallId}" was answered already. The first answer stands.`);

/**
 * Gives an answer that may be sent twice. If it comes too late, it succeeds nevertheless if it is the recorded one, however long ago that
 * was given. `answer`: `null` if it names no person or no question.
 */
export async function orRepeated(
  { id, ports: { store } }: Thread,
  answer: RepeatableAnswer | null,
  give: () => Promise<void>,
): Promise<void> {
  try {
    return await give();
  } catch (error) {
    const isLate = error instanceof CinchError && (error.code === "ALREADY_ANSWERED" || error.code === "NOT_PENDING");
    const given = isLate && answer && (await answerIn(store, id, answer));
    if (!given) throw error;
    if (!(await answer.isSame(given))) throw alreadyAnswered(given.toolCallId);
  }
}

async function answerIn(store: Store, threadId: string, of: RepeatableAnswer): Promise<AnswerEvent | null> {
  const own = await answerInJournal(store, threadId, of);
  if (own || of.threadId !== undefined) return own;
  for (const { id } of await store.threads({ parentId: threadId })) {
    const below = await answerIn(store, id, of);
    if (below) return below;
  }
  return null;
}

async function answerInJournal(store: Store, threadId: string, of: RepeatableAnswer): Promise<AnswerEvent | null> {
  // By call: the oldest answer after the events that are still to be read.
  const answers = new Map<string, AnswerEvent>();
  for (let upTo = Infinity; upTo > 0;) {
    const events = await store.read(threadId, { upTo, limit: PAGE, last: true });
    for (const event of events.map(readEvent).toReversed()) {
      if (event.type === ANSWER[of.waiting]) answers.set(event.toolCallId, event);
      if (event.type !== QUESTION[of.waiting]) continue;
      if (isMeant(event, of)) return answers.get(event.toolCallId) ?? null;
      // The answers so far were to this question: calls may have the same id, and one may ask again.
      answers.delete(event.toolCallId);
    }
    if (events.length < PAGE) return null;
    upTo = events[0]!.seq - 1;
  }
  return null;
}

const isMeant = (event: QuestionEvent, { toolCallId = event.toolCallId, isQuestion }: RepeatableAnswer): boolean =>
  event.toolCallId === toolCallId && isQuestion(event);
