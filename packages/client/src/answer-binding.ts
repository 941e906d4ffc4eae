import type { PendingApproval, PendingSuspension } from "@cinch/core";
import type { RemoteSeat } from "./remote-seat.ts";
import { objectOf } from "./wire-input.ts";

type Question = PendingApproval | PendingSuspension;

export interface UnboundAnswer {
  toolCallId?: string;
  threadId?: string;
  by?: string;
}

/**
 * Binds each answer of a session to the oldest question that the session shows and has not answered, so that it holds for no other one,
 * whatever the server has meanwhile. Two answers to "the oldest question" go to two questions. `send` gets the answer with its question.
 */
export const boundAnswer =
  (
    kind: "pendingApprovals" | "pendingSuspensions",
    send: (seat: RemoteSeat, name: string, bound: object) => Promise<unknown>,
  ) =>
  async (seat: RemoteSeat, name: string, given: UnboundAnswer): Promise<unknown> => {
    // Who answers is the caller, as the server knows it.
    const { by: _, ...answer } = objectOf(given);
    const { toolCallId, threadId } = answer;
    const shown = Object.values<Question>(seat.thread?.display[kind] ?? {})
      .filter((one) => (toolCallId ?? one.toolCallId) === one.toolCallId && (threadId ?? one.threadId) === one.threadId)
      .toSorted((a, b) => a.at - b.at || a.seq - b.seq);
    const question = shown.find((one) => !seat.answered.has(keyOf(one)));
    if (!question) return send(seat, name, { ...answer, ...(shown[0] && nothing(shown[0])) });
    const key = keyOf(question);
    const { toolCallId: callId, threadId: at } = question;
    seat.answered.add(key);
    try {
      return await send(seat, name, { ...proofOf(question), ...answer, toolCallId: callId, threadId: at });
    } catch (error) {
      seat.answered.delete(key);
      throw error;
    }
  };

const keyOf = ({ threadId, seq }: Question): string => `${threadId} ${seq}`;
const proofOf = (question: Question) => ("digest" in question ? { digest: question.digest } : { seq: question.seq });
/** No question has this proof: every one that the session shows is answered, and the server says so. */
const nothing = (question: Question) => ("digest" in question ? { digest: "" } : { seq: 0 });
