import { nearest } from "@cinch/core/nearest";
import type { CommandEntry } from "../composer/completion.ts";

/** `/name argument`. A path such as `/etc/hosts` is no command, and neither is a text after a space. */
const COMMAND = /^\/([A-Za-z][\w-]*)(?:\s+([^]*))?$/;

/** The command that a text is, known or not. */
export function commandIn(content: string): { name: string; argument: string } | undefined {
  const found = COMMAND.exec(content.trimEnd());
  return found ? { name: found[1]!, argument: found[2] ?? "" } : undefined;
}

/** What to do about a command that does not exist. */
export function unknownCommand(name: string, commands: readonly CommandEntry[]): string {
  const meant = nearest(
    name,
    commands.map((entry) => entry.name),
  );
  const next = meant === undefined ? "See /help." : `Did you mean /${meant}?`;
  return `There is no command /${name}. ${next} To send the text, put a space before it.`;
}

/** The command that a text is, if it is one of these. */
export function knownCommand(
  content: string,
  commands: readonly CommandEntry[],
): { name: string; argument: string } | undefined {
  const command = commandIn(content);
  return commands.some(({ name }) => name === command?.name) ? command : undefined;
}
