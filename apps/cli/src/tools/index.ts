import type { Tool } from "@cinch/core";
import { calculate } from "./calculate.ts";
import { countWords } from "./count-words.ts";
import { counter } from "./counter.ts";
import { currentTime } from "./current-time.ts";
import { rollDice } from "./roll-dice.ts";
import { wait } from "./wait.ts";

/** The tools of `cinch run`, under the names by which a model calls them. One file each. */
export const tools: Readonly<Record<string, Tool>> = {
  current_time: currentTime,
  calculate,
  counter,
  count_words: countWords,
  roll_dice: rollDice,
  wait,
};
