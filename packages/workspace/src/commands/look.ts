import type { Word } from "./word.ts";

/** What is known of a simple command by the name of its program. */
export interface Look {
  /**
   * The last word that an allow has to spell out, because it decides what is done at all: the command of a wrapper, `-delete` of find.
   * -1: only what the pattern itself compares. Infinity: nothing can cover it.
   */
  readonly reach: number;
  /** What it runs can't be told: any pattern may be meant, and only one that names every word covers it. */
  readonly opaque: boolean;
  /** The commands that it runs, or may run. */
  readonly inner: readonly (readonly Word[])[];
  /** What it runs as lines of a shell. */
  readonly code: readonly string[];
  /** What it gives to the environment of another program. */
  readonly assignments: readonly Word[];
  /** Whether it does nothing but run its only inner command. */
  readonly harmless: boolean;
}

/** Looks at the words of a command, the program's name included. */
export type Looker = (words: readonly Word[]) => Partial<Look>;

/** Words that are run as a line of a shell. */
export function asCode(words: readonly Word[]): Pick<Look, "code" | "opaque"> {
  const texts = words.map(({ text }) => text);
  return texts.includes(undefined) ? { code: [], opaque: true } : { code: [texts.join(" ")], opaque: false };
}

export const named = <T>(names: string, value: T): [string, T][] => names.split(" ").map((name) => [name, value]);
