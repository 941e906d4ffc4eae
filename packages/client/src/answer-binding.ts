import type { PendingApproval, PendingSuspension } from "@cinch/core";
import { objectOf } from "./wire-input.ts";

type Question = PendingApproval | PendingSuspension;

export interface UnboundAnswer {
  toolCallId?: string;
  threadId?: string;
  by?: string;
}

/**
 * Binds each answer of a session to the oldest question that the session shows and has not answered, so that it holds for no other one,
 * whatever the server has meanwhile. Two answers to "the oldest question" go to two questions.
 */
export class AnswerBinding {
  /** What is answered stays here: the display may show a subagent's question for a moment longer. */
  readonly #answered = new Set<string>();

  /** `send` gets the answer with its question. Who answers is the caller, as the server knows it. */
  async send(
    given: UnboundAnswer,
    questions: Readonly<Record<string, Question>>,
    send: (bound: object) => Promise<void>,
  ): Promise<void> {
    const { by: _, ...answer } = objectOf(given);
    const { toolCallId, threadId } = answer;
    const shown = Object.values(questions)
      .filter((one) => (toolCallId ?? one.toolCallId) === one.toolCallId && (threadId ?? one.threadId) === one.threadId)
      .toSorted((a, b) => a.at - b.at || a.seq - b.seq);
    const question = shown.find((one) => !this.#answered.has(keyOf(one)));
    if (!question) return send(shown[0] ? { ...answer, ...nothing(shown[0]) } : answer);
    const key = keyOf(question);
    this.#answered.add(key);
    const { toolCallId: callId, threadId: at } = question;
    try {
      await send({ ...proofOf(question), ...answer, toolCallId: callId, threadId: at });
    } catch (error) {
      this.#answered.delete(key);
      throw error;
    }
  }
}

const keyOf = ({ threadId, seq }: Question): string => `${threadId} ${seq}`;
const proofOf = (question: Question) => ("digest" in question ? { digest: question.digest } : { seq: question.seq });
/** No question has this proof: every one that the session shows is answered, and the server says so. */
const nothing = (question: Question) => ("digest" in question ? { digest: "" } : { seq: 0 });
