import { glob, MAX_PATTERN_LENGTH } from "../glob/index.ts";
import { nameOf, relativeTo } from "../paths.ts";

/** Ignore files. Rules of the later ones override those of the earlier. */
export const IGNORE_FILES = [".gitignore", ".ignore"];

/** Excluded without an ignore file. */
export const ALWAYS: ReadonlySet<string> = new Set([".git", "node_modules"]);
const BROUGHT_BACK = /^!.*(?:node_modules|\.git\b)/m;

/** The most rules that are read of one directory. */
const MAX_RULES = 2_000;

interface IgnoreRule {
  negated: boolean;
  directoriesOnly: boolean;
  fits(relative: string, name: string): boolean;
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

  excludes(path: string, type: "file" | "directory"): boolean {
    const last = this.#rules.length === 0 ? undefined : this.#lastFor(path, type);
    if (last) return !last.negated;
    return this.#above ? this.#above.excludes(path, type) : type === "directory" && ALWAYS.has(nameOf(path));
  }

  #lastFor(path: string, type: "file" | "directory"): IgnoreRule | undefined {
    const [relative, name] = [relativeTo(this.#directory, path), nameOf(path)];
    return this.#rules.findLast((rule) => (type === "directory" || !rule.directoriesOnly) && rule.fits(relative, name));
  }

  /** Whether a file of any name in this directory is excluded: "dist/*" means the directory as well. */
  excludesContents(directory: string): boolean {
    return this.excludes(`${directory === "/" ? "" : directory}/\u{f0000}`, "file");
  }
}

function rulesIn(text: string): IgnoreRule[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.replace(/(?<!\\) +$/, ""))
    .filter((line) => line !== "" && !line.startsWith("#") && line.length < MAX_PATTERN_LENGTH)
    .slice(0, MAX_RULES)
    .flatMap((line) => ruleOf(line));
}

function ruleOf(line: string): IgnoreRule[] {
  const negated = line.startsWith("!");
  const directoriesOnly = line.endsWith("/");
  const pattern = line.slice(negated ? 1 : 0, directoriesOnly ? -1 : undefined);
  if (pattern === "") return [];
  return [{ negated, directoriesOnly, fits: matcher(pattern) }];
}

/** Most lines are a name or an extension: these are compared without a glob, because every file is compared with every line. */
function matcher(pattern: string): IgnoreRule["fits"] {
  const anchored = pattern.includes("/");
  const plain = pattern.replace(/^\//, "");
  if (!/[*?[\\]/.test(plain)) return anchored ? (relative) => relative === plain : (_, name) => name === plain;
  if (!anchored && /^\*[^*?[\\]+$/.test(plain)) return (_, name) => name.endsWith(plain.slice(1));
  // Braces have no meaning to git.
  const literal = plain.replace(/[{},]/g, "\\$&");
  if (literal.length > MAX_PATTERN_LENGTH) return () => false;
  const compiled = glob(literal);
  return anchored ? (relative) => compiled.matches(relative) : (_, name) => compiled.matches(name);
}
