import type { Rule } from "@cinch/core";
import { isCommandPattern } from "@cinch/workspace";

const EFFECTS = { allow: "allows nothing", ask: "makes every command ask", deny: "denies every command" } as const;

/** What is wrong with the pattern of a rule for commands. `undefined`: nothing. */
export function patternProblem({ toolName, match, policy }: Rule): string | undefined {
  if (toolName !== "execute" || match === undefined || isCommandPattern(match)) return undefined;
  const effect = `so the rule ${EFFECTS[policy]}`;
  return `"${match}" is not the pattern of one command, ${effect}. Write one without | & ; < > ( ) $ and open quotes, such as "git push *".`;
}
