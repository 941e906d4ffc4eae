import type { ApprovalAnswer, Decision, SuspensionAnswer } from "@cinch/core";
import { UsageError } from "../exit.ts";
import type { Waiting } from "./waiting.ts";

export interface GivenAnswer {
  words: readonly string[];
  /** A reason or a remark, for the model. */
  message?: string | undefined;
}

export type AnswerToCall =
  | { kind: "approval"; answer: ApprovalAnswer }
  | { kind: "suspension"; answer: SuspensionAnswer };

/** What the session is to be told. The answer holds for the question that was listed, and for no later one. Throws `UsageError`. */
export function answerTo(waiting: Waiting, given: GivenAnswer): AnswerToCall {
  const { threadId, toolCallId } = waiting;
  const call = { threadId, toolCallId };
  if (waiting.kind === "approval") {
    const { digest } = waiting;
    const message = given.message === undefined ? {} : { message: given.message };
    return { kind: "approval", answer: { ...call, digest, decision: decisionOf(waiting, given), ...message } };
  }
  return { kind: "suspension", answer: { ...call, seq: waiting.seq, resumeData: dataOf(waiting, given) } };
}

const DECISIONS: Readonly<Record<string, Decision>> = {
  yes: "approve",
  no: "decline",
  always: "always_allow_tool",
};

function decisionOf({ decisions }: Extract<Waiting, { kind: "approval" }>, { words }: GivenAnswer): Decision {
  const decision = DECISIONS[wordOf(words)];
  if (decision === undefined)
    throw new UsageError('An approval is answered with yes, no or always. A reason goes with no: no --message "…"');
  if (decisions.includes(decision)) return decision;
  throw new UsageError(`This call does not accept "${wordOf(words)}". It accepts: ${accepted(decisions)}.`);
}

const accepted = (decisions: readonly string[]): string =>
  Object.entries(DECISIONS)
    .flatMap(([word, decision]) => (decisions.includes(decision) ? [word] : []))
    .join(", ");

function dataOf(waiting: Exclude<Waiting, { kind: "approval" }>, { words, message }: GivenAnswer): unknown {
  const text = words.join(" ");
  switch (waiting.kind) {
    case "plan":
      return planAnswer(words, message);
    case "question":
      refuseMessage(message);
      return waiting.multiple ? [...words] : text;
    case "data":
      refuseMessage(message);
      return text;
  }
}

/** A text that is neither yes nor no is what to change. */
function planAnswer(words: readonly string[], message: string | undefined) {
  const word = wordOf(words);
  const isWord = word === "yes" || word === "no";
  const feedback = [...(isWord ? [] : [words.join(" ")]), ...(message === undefined ? [] : [message])].join("\n");
  const action = word === "yes" ? ("approved" as const) : ("rejected" as const);
  return feedback === "" ? { action } : { action, feedback };
}

const wordOf = (words: readonly string[]): string => words.join(" ").trim().toLowerCase();

function refuseMessage(message: string | undefined): void {
  if (message !== undefined) throw new UsageError("--message goes with approvals and plans. Write it as the answer.");
}
