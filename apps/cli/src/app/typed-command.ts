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
  const [nearest] = commands.map((entry) => entry.name).toSorted((a, b) => distance(name, a) - distance(name, b));
  const meant = nearest !== undefined && distance(name, nearest) <= 3 ? ` Did you mean /${nearest}?` : " See /help.";
  return `There is no command /${name}.${meant} To send the text, put a space before it.`;
}

/** How many letters must be added, removed or replaced. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
