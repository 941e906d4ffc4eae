import type { Fit } from "@cinch/core";
import { covers, parsePattern } from "./pattern.ts";
import { DOUBTFUL, type Reading } from "./findings.ts";
import { readLine } from "./reading.ts";
import { mayFit, mentions } from "./spelling.ts";
import { suggestion } from "./suggest.ts";
import { bashParser, type Parse } from "./syntax.ts";

export interface CommandMatcher {
  /**
   * How far a pattern such as `git push *` covers a line. `all`: every simple command in it fits, and nothing else is done. `some`: one of
   * them, wherever it stands, fits or may fit. Never throws.
   */
  matches(pattern: string, command: string): Fit;
  /** The narrow pattern to remember for a line. If there is one, it covers the line (`all`). Never throws. */
  suggest(command: string): string | undefined;
}

/** The parser is loaded once, when it is first asked for. Rejects only if it can't be loaded: then the installation is broken. */
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

function fitOf(text: string, command: string, read: (line: string) => Reading): Fit {
  if (command.trim() === "") return "none";
  const pattern = parsePattern(text);
  if (!pattern) return "some";
  const { commands, inner, texts, doubtful, more } = read(command);
  if (!doubtful && !more && commands.length > 0 && commands.every((one) => covers(pattern, one))) return "all";
  const isMeant = doubtful || texts.some(mentions(pattern));
  return isMeant || [...commands, ...inner].some((one) => mayFit(pattern, one)) ? "some" : "none";
}

const MOST_REMEMBERED = 16;

/** A line is held against all rules, one after the other. */
function remembering(parse: Parse): (line: string) => Reading {
  const known = new Map<string, Reading>();
  return (line) => {
    let reading = known.get(line);
    if (reading) return reading;
    try {
      reading = readLine(line, parse);
    } catch {
      reading = DOUBTFUL;
    }
    if (known.size >= MOST_REMEMBERED) known.delete(known.keys().next().value!);
    known.set(line, reading);
    return reading;
  };
}
