import { saying, type Said, type Skill } from "./intent.ts";

const FACT = /\bmy ([a-z][a-z ]{0,30}?) is (?!my\b)([^.!?;,\n]+?)(?=\s*(?:[.!?;,\n]|\band\b|\bthen\b|$))/gi;
const ASKS_FACT = /\b(?:what(?:'s| is| was)|tell me|do you (?:know|remember)|say) my ([a-z][a-z ]*?)\s*$/i;
const REMEMBER = /\bremember (?:that |this: ?)?(.+)$/is;
const RECALL = /\bwhat (?:do you|can you) remember|\bwhat did i (?:tell|ask) you\b|\bwhat do you know about me\b/i;

/** The facts that the user has stated. A later statement replaces an earlier one. */
function facts(said: Said): Map<string, string> {
  const known = new Map<string, string>();
  for (const text of said) {
    for (const [, what, value] of text.matchAll(FACT)) known.set(what!.toLowerCase(), value!.trim());
  }
  return known;
}

const stateFact: Skill = (clause) => {
  const [, what, value] = [...clause.matchAll(FACT)][0] ?? [];
  if (!what || !value || /^\s*what\b/i.test(clause)) return undefined;
  return saying(what.toLowerCase() === "name" ? `Nice to meet you, ${value}.` : `Noted: your ${what} is ${value}.`);
};

const askFact: Skill = (clause, said) => {
  const what = /\bwho am i\b/i.test(clause) ? "name" : clause.match(ASKS_FACT)?.[1]?.toLowerCase();
  if (!what) return undefined;
  const value = facts(said).get(what);
  if (value === undefined) return saying(`You have not told me your ${what}.`);
  return saying(`Your ${what} is ${value}.`);
};

const quoteEarlier: Skill = (clause, said) => {
  const which = clause.match(/\bwhat did i (?:just )?(?:say|ask|write)\b(.*)$/i)?.[1];
  if (which === undefined) return undefined;
  const earlier = said.slice(0, -1);
  const first = /\bfirst\b|\bat the (?:start|beginning)\b/i.test(which);
  const words = first ? earlier[0] : earlier.at(-1);
  if (words === undefined) return saying("That was the first thing you said.");
  return saying(`${first ? "First you said" : "Before that you said"}: "${words}"`);
};

export const remember: Skill = (clause) => {
  const what = clause.match(REMEMBER)?.[1]?.replace(/[.!\s]+$/, "");
  return what && !/^\s*(?:what|do you)\b/i.test(clause) ? saying(`I will remember: ${what}.`) : undefined;
};

const recall: Skill = (clause, said) => {
  if (!RECALL.test(clause)) return undefined;
  const stated = [...facts(said)].map(([what, value]) => `your ${what} is ${value}`);
  const noted = said.slice(0, -1).flatMap((text) => text.match(REMEMBER)?.[1]?.replace(/[.!\s]+$/, "") ?? []);
  const all = [...stated, ...noted];
  return saying(all.length > 0 ? `This: ${all.join("; ")}.` : "Nothing yet. Tell me something, like: my name is Ada.");
};

/** Skills that need only the earlier messages in the prompt. */
export const memory: readonly Skill[] = [quoteEarlier, recall, askFact, stateFact];
