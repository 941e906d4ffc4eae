import type { Outcome } from "./conversation.ts";

export interface Call {
  toolName: string;
  input: Record<string, unknown>;
}

/** One thing that the person wants: the calls for it, one after the other, and what to say when they have ended. */
export interface Intent {
  calls: readonly Call[];
  answer(outcomes: readonly Outcome[]): string;
}

/** What the person said, for those who have to look back. */
export type Said = readonly string[];

/** Recognises one thing in a clause, or leaves it to the others. */
export type Skill = (clause: string, said: Said) => Intent | undefined;

export const saying = (text: string): Intent => ({ calls: [], answer: () => text });

/** For a tool that is called once: what to say of its result. */
export function calling(toolName: string, input: Record<string, unknown>, answer: (result: string) => string): Intent {
  return {
    calls: [{ toolName, input }],
    answer: ([outcome]) => (outcome ? told(toolName, outcome, answer) : ""),
  };
}

function told(toolName: string, { text, isError }: Outcome, answer: (result: string) => string): string {
  if (!isError) return answer(text);
  if (isUnknown(text)) return `Whether ${toolName} had its effect is not known, so I did not repeat it.`;
  return `${toolName} failed: ${text}`;
}

/** A model reads its results, and so does this one. */
export const isUnknown = (text: string): boolean => /\bunknown\b/i.test(text);
