import type { Conversation, ToolOutcome } from "./conversation.ts";
import { saying, type Intent, type Move, type PlannedCall, type Said, type Skill } from "./intent.ts";
import { memory, remember } from "./memory.ts";
import { repeating, talk, unclear } from "./talk.ts";
import { toolSkills, wordCount, wordCountBelow } from "./tool-skills.ts";
import { workspaceSkills } from "./workspace-skills.ts";

/** Skills that take a whole sentence, before it is split into clauses. */
const whole: readonly Skill[] = [wordCount, remember, ...workspaceSkills];
const skills: readonly Skill[] = [...memory, ...toolSkills, ...talk];

/** The next move. It depends only on the conversation: the plan is rebuilt each time, and the steps already taken are skipped. */
export function nextMove({ ask, said, steps }: Conversation, offered: ReadonlySet<string>): Move {
  const groups = planOf(ask, said).map((group) => group.map((intent) => withTools(intent, offered)));
  const stages = groups.flatMap(stagesOf);
  const stage = stages[steps.length];
  if (!stage) return { kind: "say", text: answerOf(groups, steps) };
  if (steps.length > 0) return { kind: "call", text: "", calls: stage };
  const names = [...new Set(stages.flat().map(({ toolName }) => toolName))];
  return { kind: "call", text: `I use ${names.join(", ")} for that.\n`, calls: stage };
}

/** Groups run one after the other ("then"); the intents of a group run in parallel ("and"). */
function planOf(ask: string, said: Said): Intent[][] {
  const literal = firstOf([repeating, wordCountBelow], ask, said);
  if (literal) return [[literal]];
  const missed: string[] = [];
  const groups = split(ask, /(?:[,;.!?\s]|\band\b)+\b(?:then|after that|afterwards)\b,?/i).map((group) =>
    split(group, /[.!?;](?=\s|$)|\n/).flatMap((sentence) => {
      const known = firstOf(whole, sentence, said);
      if (known) return [known];
      return split(sentence, /,(?:\s*and\b)?|\s+and\b/i).flatMap((clause) => {
        const intent = firstOf(skills, clause, said);
        if (!intent) missed.push(clause);
        return intent ? [intent] : [];
      });
    }),
  );
  if (groups.flat().length === 0) return [[saying(unclear(ask.trim()))]];
  if (missed.length === 0) return groups;
  return [...groups, [saying(`(I have no rule for "${missed.join('", "')}".)`)]];
}

const firstOf = (from: readonly Skill[], clause: string, said: Said): Intent | undefined => {
  for (const skill of from) {
    const intent = skill(clause, said);
    if (intent) return intent;
  }
  return undefined;
};

/** Splits at the pattern, except inside quotes. */
function split(text: string, pattern: RegExp): string[] {
  const hidden = text.replace(/"[^"]*"|“[^”]*”/g, (quoted) => "\u0000".repeat(quoted.length));
  const pieces: string[] = [];
  let from = 0;
  for (const { index, 0: found } of hidden.matchAll(new RegExp(pattern, `${pattern.flags}g`))) {
    pieces.push(text.slice(from, index));
    from = index + found.length;
  }
  return [...pieces, text.slice(from)].map((piece) => piece.trim()).filter((piece) => piece !== "");
}

function withTools(intent: Intent, offered: ReadonlySet<string>): Intent {
  const missing = intent.calls.find(({ toolName }) => !offered.has(toolName));
  return missing ? saying(`For that I would need the tool ${missing.toolName}, which I was not given.`) : intent;
}

/** The calls of a group, by message: first the first call of each intent, then the second of each, and so on. */
function stagesOf(group: readonly Intent[]): PlannedCall[][] {
  const length = Math.max(0, ...group.map(({ calls }) => calls.length));
  return Array.from({ length }, (_, at) => group.flatMap(({ calls }) => calls[at] ?? []));
}

function answerOf(groups: readonly Intent[][], steps: readonly (readonly ToolOutcome[])[]): string {
  let stage = 0;
  const sentences = groups.flatMap((group) => {
    const outcomes = new Map<Intent, ToolOutcome[]>(group.map((intent) => [intent, []]));
    for (const [at] of stagesOf(group).entries()) {
      const results = steps[stage++] ?? [];
      const called = group.filter(({ calls }) => at < calls.length);
      for (const [place, intent] of called.entries()) {
        const result = results[place];
        if (result) outcomes.get(intent)!.push(result);
      }
    }
    return group.map((intent) => intent.answer(outcomes.get(intent)!));
  });
  return sentences.filter((sentence) => sentence !== "").join(" ");
}
