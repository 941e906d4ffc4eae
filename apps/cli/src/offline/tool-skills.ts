import { calling, isUnknown, type Intent, type Skill } from "./intent.ts";
import { expressionIn, NUMBER, numberOf } from "./numbers.ts";

const MAX_COUNT = 1_000;
/** How long each number takes with "slowly". */
const SLOWLY_SECONDS = 0.6;

const time: Skill = (clause) => {
  if (!/\b(?:what time|the time|current time|what(?:'s| is) the date|today's date|what day|what date)\b/i.test(clause))
    return undefined;
  const timezone = clause.match(/\b(?:[A-Z][a-z]+\/[A-Z][A-Za-z_]+|UTC)\b/)?.[0];
  return calling("current_time", timezone ? { timezone } : {}, (result) => `It is ${result}.`);
};

const waiting: Skill = (clause) => {
  const pattern = new RegExp(`\\b(?:wait|sleep|pause)\\b(?:\\s+for)?\\s+(${NUMBER})\\s*(ms|milli|min|s)?`, "i");
  const [, amount, unit = "s"] = clause.match(pattern) ?? [];
  if (!amount) return undefined;
  const factors: Record<string, number> = { ms: 0.001, milli: 0.001, min: 60, s: 1 };
  const seconds = numberOf(amount) * (factors[unit.toLowerCase()] ?? 1);
  return calling("wait", { seconds }, () => `I waited for ${seconds} s.`);
};

const dice: Skill = (clause) => {
  if (!/\b(?:roll|throw)\b/i.test(clause)) return undefined;
  const [, rolled, sided] = clause.match(/\b(\d*)d(\d+)\b/i) ?? [];
  const [, many] = clause.match(new RegExp(`\\b(${NUMBER})\\b[\\w\\s-]*\\b(?:dice|die)\\b`, "i")) ?? [];
  const sides = sided ?? clause.match(/\b(\d+)[- ]sided\b/i)?.[1] ?? "6";
  const count = rolled || (sided ? "1" : (many ?? (/\bdice\b/i.test(clause) ? "2" : "1")));
  return calling("roll_dice", { count: numberOf(count), sides: Number(sides) }, (result) => `I rolled ${result}.`);
};

const counting: Skill = (clause) => {
  const to = clause.match(new RegExp(`\\bcount(?: up)? (?:from (?:1|one) )?to (${NUMBER})\\b`, "i"))?.[1];
  if (!to) return undefined;
  const last = Math.min(Math.max(1, Math.floor(numberOf(to))), MAX_COUNT);
  const pace = /\bslow(?:ly)?\b/i.test(clause) ? { seconds: SLOWLY_SECONDS } : {};
  const calls = Array.from({ length: last }, (_, at) => ({ toolName: "counter", input: { number: at + 1, ...pace } }));
  return {
    calls,
    answer(outcomes) {
      const numbers = outcomes.map(({ text, isError }, at) => (isError ? `${at + 1} (${trouble(text)})` : `${at + 1}`));
      return `I counted ${listed(numbers)}.`;
    },
  };
};

const trouble = (text: string): string =>
  isUnknown(text) ? "outcome unknown: it was interrupted, and I did not repeat it" : `failed: ${text}`;

function listed(numbers: readonly string[]): string {
  return numbers.length <= 20 ? numbers.join(", ") : `${numbers.slice(0, 3).join(", ")}, … ${numbers.at(-1)}`;
}

const arithmetic: Skill = (clause) => {
  const expression = expressionIn(clause);
  if (!expression) return undefined;
  return calling("calculate", { expression }, (result) => `${expression} = ${result}.`);
};

/** Takes everything below its line literally: `cinch run` puts there what is piped in. */
export const wordCountBelow: Skill = (request) => {
  const first = /^\s*(?:count (?:the )?words|how many words)(?: are)? (?:in|of)(?: this| that)?[:?]?[^\S\n]*\n/i;
  const text = first.test(request) ? request.replace(first, "").trim() : "";
  return text === "" ? undefined : countingWords(text);
};

/** Takes the rest of the sentence literally, even if it contains other requests. */
export const wordCount: Skill = (clause) => {
  const [, of = ""] = clause.match(/\b(?:count (?:the )?words|how many words)\b(.*)$/is) ?? [];
  const text = of.replace(/^(?: are)?(?: (?:in|of)\b)?:?\s*/i, "");
  return text === "" ? undefined : countingWords(text.match(/["“](.+)["”]/s)?.[1] ?? text);
};

const countingWords = (text: string): Intent => calling("count_words", { text }, (result) => `That is ${result}.`);

/** Skills that need a tool. */
export const toolSkills: readonly Skill[] = [counting, waiting, time, dice, arithmetic];
