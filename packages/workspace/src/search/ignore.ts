import { glob, MAX_PATTERN_LENGTH, type Effort } from "../glob/index.ts";
import { nameOf, relativeTo } from "../paths.ts";

/** Ignore files. Rules of the later ones override those of the earlier. */
export const IGNORE_FILES = [".gitignore", ".ignore"];

/** Excluded without an ignore file. */
export const ALWAYS: ReadonlySet<string> = new Set([".git", "node_modules"]);
const BROUGHT_BACK = /^!.*(?:node_modules|\.git\b)/m;

/** The most rules that are read of one directory, and the most characters of those that are compiled: the event loop waits for this. */
const MAX_RULES = 2_000;
const MAX_COMPILED_CHARS = 32_000;
/** For one path and all rules. With ordinary rules it takes a few thousand. What is left of the rules then excludes nothing. */
const EFFORT = 100_000;

interface IgnoreRule {
  negated: boolean;
  directoriesOnly: boolean;
  fits(path: { relative: string; name: string }, effort: Effort): boolean;
}

/** The rules of ignore files, as git reads them: the nearest file decides, and in it the last matching line. */
export class Ignores {
  readonly #above: Ignores | null;
  readonly #directory: string;
  readonly #rules: readonly IgnoreRule[];
  /** Whether the rules may include a folder again that is excluded without an ignore file. */
  readonly bringsBack: boolean;

  constructor(above: Ignores | null = null, directory = "/", text = "") {
    this.#above = above;
    this.#directory = directory;
    this.#rules = rulesIn(text);
    this.bringsBack = BROUGHT_BACK.test(text) || (above?.bringsBack ?? false);
  }

  /** Whether there are no rules. */
  get isEmpty(): boolean {
    return this.#above === null && this.#rules.length === 0;
  }

  /** With the rules of a directory further down. */
  within(directory: string, text: string): Ignores {
    return text === "" ? this : new Ignores(this, directory, text);
  }

  excludes(path: string, type: "file" | "directory", effort: Effort = { left: EFFORT }): boolean {
    const names = { relative: relativeTo(this.#directory, path), name: nameOf(path) };
    const last = this.#rules.findLast(
      (rule) => (type === "directory" || !rule.directoriesOnly) && rule.fits(names, effort),
    );
    if (last) return !last.negated;
    return this.#above?.excludes(path, type, effort) ?? (type === "directory" && ALWAYS.has(nameOf(path)));
  }

  /** Whether a file of any name in this directory is excluded: "dist/*" means the directory as well. */
  excludesContents(directory: string): boolean {
    return this.excludes(`${directory === "/" ? "" : directory}/\u{f0000}`, "file");
  }
}

function rulesIn(text: string): IgnoreRule[] {
  const left = { chars: MAX_COMPILED_CHARS };
  return text
    .split(/\r?\n/)
    .map(withoutBlanks)
    .filter((line) => line !== "" && !line.startsWith("#") && line.length < MAX_PATTERN_LENGTH)
    .slice(0, MAX_RULES)
    .flatMap((line) => ruleOf(line, left));
}

/** Without blanks at the end, but with one that is escaped. Not a regular expression: with many blanks it would take quadratic time. */
function withoutBlanks(line: string): string {
  let end = line.length;
  while (line[end - 1] === " ") end--;
  return line.slice(0, line[end - 1] === "\\" ? end + 1 : end);
}

function ruleOf(line: string, left: { chars: number }): IgnoreRule[] {
  const negated = line.startsWith("!");
  const directoriesOnly = line.endsWith("/");
  const pattern = line.slice(negated ? 1 : 0, directoriesOnly ? -1 : undefined);
  if (pattern === "") return [];
  return [{ negated, directoriesOnly, fits: matcher(pattern, left) }];
}

/** Most lines are a name or an extension: these are compared without a glob, because every file is compared with every line. */
function matcher(pattern: string, left: { chars: number }): IgnoreRule["fits"] {
  const anchored = pattern.includes("/");
  const plain = pattern.replace(/^\//, "");
  if (!/[*?[\\]/.test(plain)) return anchored ? ({ relative }) => relative === plain : ({ name }) => name === plain;
  if (!anchored && /^\*[^*?[\\]+$/.test(plain)) return ({ name }) => name.endsWith(plain.slice(1));
  // Braces have no meaning to git.
  const literal = plain.replace(/[{},]/g, "\\$&");
  left.chars -= literal.length;
  if (literal.length > MAX_PATTERN_LENGTH || left.chars < 0) return () => false;
  const compiled = glob(literal);
  return anchored
    ? ({ relative }, effort) => compiled.matches(relative, effort)
    : ({ name }, effort) => compiled.matches(name, effort);
}
