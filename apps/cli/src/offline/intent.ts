import type { ToolOutcome } from "./conversation.ts";

export interface PlannedCall {
  toolName: string;
  input: Record<string, unknown>;
}

/** What the model does next: it says something, or says something and calls tools. */
export type Move = { kind: "call"; text: string; calls: readonly PlannedCall[] } | { kind: "say"; text: string };

/** One request of the user: its calls, which run one after the other, and the answer when they have ended. */
export interface Intent {
  calls: readonly PlannedCall[];
  answer(outcomes: readonly ToolOutcome[]): string;
}

/** All messages of the user, oldest first. */
export type Said = readonly string[];

/** Recognises one kind of request in a clause, or returns `undefined`. */
export type Skill = (clause: string, said: Said) => Intent | undefined;

export const saying = (text: string): Intent => ({ calls: [], answer: () => text });

/** An intent with one call. */
export function calling(toolName: string, input: Record<string, unknown>, answer: (result: string) => string): Intent {
  return {
    calls: [{ toolName, input }],
    answer: ([outcome]) => (outcome ? answerFor(toolName, outcome, answer) : ""),
  };
}

function answerFor(toolName: string, { text, isError }: ToolOutcome, answer: (result: string) => string): string {
  if (!isError) return answer(text);
  if (isUnknown(text)) return `It is unknown whether ${toolName} had its effect, so I did not repeat it.`;
  return `${toolName} failed: ${text}`;
}

/** Like any model, this one sees only the text of a result. */
export const isUnknown = (text: string): boolean => /\bunknown\b/i.test(text);
