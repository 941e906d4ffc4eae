/** What can be completed. */
export interface CompletionSource {
  /** Paths relative to the project, with `/`; those of folders end with it. */
  files: readonly string[];
  commands: readonly CommandEntry[];
}

export interface CommandEntry {
  /** Without the slash. */
  name: string;
  description: string;
}

/** The word at the cursor, if it can be completed: its offsets, and what was typed of it. */
export interface CompletionTarget {
  kind: "file" | "command";
  query: string;
  start: number;
  end: number;
}

export interface CompletionChoice {
  /** What stands in the text afterwards. */
  insert: string;
  label: string;
  description?: string;
}

const MAX_CHOICES = 10;
const COMMAND = /^\/([\w-]*)$/;
const FILE = /(?:^|\s)@(?:"([^"\n]*)|([^\s"]*))$/;

/** A command only at the start of the text; a file anywhere after white space. */
export function completionTarget(text: string, cursor: number): CompletionTarget | undefined {
  const before = text.slice(0, cursor);
  const command = COMMAND.exec(before);
  if (command) return { kind: "command", query: command[1]!, start: 0, end: cursor };
  const file = FILE.exec(before);
  if (!file) return undefined;
  // A quoted path may contain an @ itself.
  const start = file.index + file[0].indexOf("@");
  return { kind: "file", query: file[1] ?? file[2]!, start, end: cursor };
}

/** The best choices, best first. */
export function completionChoices({ kind, query }: CompletionTarget, source: CompletionSource): CompletionChoice[] {
  if (kind === "command")
    return best(query, source.commands, ({ name }) => name).map(({ name, description }) => ({
      insert: `/${name} `,
      label: `/${name}`,
      description,
    }));
  return best(query, source.files, (path) => path).map((path) => ({ insert: fileReference(path), label: path }));
}

/** The text and the cursor after a choice. */
export function completedText(
  text: string,
  { start, end }: CompletionTarget,
  { insert }: CompletionChoice,
): { text: string; cursor: number } {
  const after = text.slice(end);
  // One space is enough.
  const added = insert.endsWith(" ") && after.startsWith(" ") ? insert.slice(0, -1) : insert;
  return { text: text.slice(0, start) + added + after, cursor: start + insert.length };
}

/** A folder stays open, so that what is in it can be completed next. */
function fileReference(path: string): string {
  const quoted = /[\s"]/.test(path);
  if (path.endsWith("/")) return quoted ? `@"${path}` : `@${path}`;
  return quoted ? `@"${path}" ` : `@${path} `;
}

function best<T>(query: string, candidates: readonly T[], nameOf: (candidate: T) => string): T[] {
  const wanted = query.toLowerCase();
  // Nothing is better than another: they stand in their own order.
  if (wanted === "") return candidates.slice(0, MAX_CHOICES);
  return candidates
    .flatMap((candidate) => {
      const score = matchScore(wanted, nameOf(candidate));
      return score === undefined ? [] : [{ candidate, score, name: nameOf(candidate) }];
    })
    .toSorted((a, b) => b.score - a.score || a.name.length - b.name.length || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_CHOICES)
    .map(({ candidate }) => candidate);
}

const WHOLE = 1_000;
const PREFIX = 500;
const NAME_PREFIX = 400;
const INSIDE = 200;

/** How well a name fits, by what was typed of it, in small letters. `undefined` if a letter is missing. */
export function matchScore(wanted: string, name: string): number | undefined {
  const lower = name.toLowerCase();
  const ownName = lower.slice(lower.lastIndexOf("/", lower.length - 2) + 1);
  if (lower === wanted) return WHOLE;
  if (lower.startsWith(wanted)) return PREFIX;
  if (ownName.startsWith(wanted)) return NAME_PREFIX;
  if (lower.includes(wanted)) return INSIDE;
  return scattered(wanted, lower);
}

/** All letters in order. Letters that follow each other, or begin a part of the name, count more. */
function scattered(wanted: string, name: string): number | undefined {
  let score = 0;
  let at = -1;
  for (const char of wanted) {
    const found = name.indexOf(char, at + 1);
    if (found === -1) return undefined;
    if (found === at + 1) score += 3;
    else if (/[/._-]/.test(name[found - 1] ?? "/")) score += 2;
    at = found + char.length - 1;
  }
  return score;
}
