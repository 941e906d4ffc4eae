import type { Fit } from "@cinch/core";
import { covers, parsePattern } from "./pattern.ts";
import { DOUBTFUL, type LineAnalysis } from "./findings.ts";
import { analyzeLine } from "./line-analysis.ts";
import { mayFit, mentions } from "./spelling.ts";
import { suggestion } from "./suggest.ts";
import { bashParser, type Parse } from "./syntax.ts";

export interface CommandMatcher {
  /**
   * How far a pattern such as `git push *` covers a line. `all`: it covers every simple command, and the line does nothing else. `some`: it
   * matches, or may match, one of them. Never throws.
   */
  matches(pattern: string, command: string): Fit;
  /** The narrow pattern to remember for a line. If there is one, it covers the line (`all`). Never throws. */
  suggest(command: string): string | undefined;
}

/** Loads the parser on the first call. Rejects only if that fails, because the installation is broken. */
export async function commandMatcher(): Promise<CommandMatcher> {
  const read = remembering(await bashParser());
  const matches = (pattern: string, command: string): Fit => {
    try {
      return fitOf(pattern, command, read);
    } catch {
      return "some";
    }
  };
  return {
    matches,
    suggest(command) {
      try {
        const pattern = suggestion(read(command));
        return pattern !== undefined && matches(pattern, command) === "all" ? pattern : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

function fitOf(text: string, command: string, read: (line: string) => LineAnalysis): Fit {
  if (command.trim() === "") return "none";
  const pattern = parsePattern(text);
  if (!pattern) return "some";
  const { commands, inner, texts, doubtful, more } = read(command);
  if (!doubtful && !more && commands.length > 0 && commands.every((one) => covers(pattern, one))) return "all";
  const isMeant = doubtful || texts.some(mentions(pattern));
  return isMeant || [...commands, ...inner].some((one) => mayFit(pattern, one)) ? "some" : "none";
}

const MOST_REMEMBERED = 16;

/** Caches the last lines, because each is matched against all rules. */
function remembering(parse: Parse): (line: string) => LineAnalysis {
  const known = new Map<string, LineAnalysis>();
  return (line) => {
    let reading = known.get(line);
    if (reading) return reading;
    try {
      reading = analyzeLine(line, parse);
    } catch {
      reading = DOUBTFUL;
    }
    if (known.size >= MOST_REMEMBERED) known.delete(known.keys().next().value!);
    known.set(line, reading);
    return reading;
  };
}
