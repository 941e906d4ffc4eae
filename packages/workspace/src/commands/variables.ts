import type { Syntax } from "./syntax.ts";
import type { Word } from "./word.ts";

/** Variables that only change how a program prints or behaves. Their values are never run. */
const HARMLESS =
  /^(?:CI|DEBUG|VERBOSE|PORT|LANG|LC_[A-Z]+|TZ|TERM|COLUMNS|HUSKY|LOG_LEVEL|(?:NODE|RAILS|RACK|MIX|FLASK|APP|TEST)_ENV|(?:NO|FORCE)_COLOR|CLICOLOR|RUST_(?:BACKTRACE|LOG)|NODE_NO_WARNINGS|PYTHON(?:UNBUFFERED|DONTWRITEBYTECODE)|CGO_ENABLED|GOOS|GOARCH)$/;
const PLAIN_VALUE = /^(?:[\w.,:@%+*-][\w.,:@%+*/-]*)?$/;

export const isHarmless = (name: string, { text }: Word): boolean =>
  HARMLESS.test(name) && text !== undefined && PLAIN_VALUE.test(text);

/** Names of variables for data, which programs don't run. */
const DATA = /^[a-z]|(?:PATH|DIR|HOME|ROOT|VERSION|NAME|PORT|HOST|URL|ID|TOKEN|KEY|FILE)$/;
const OBEYED = /^(?:PS\d|ENV|BASH_\w+|PROMPT_COMMAND)$/;

export const mayBeRun = (name: string, { exported }: { exported: boolean }): boolean =>
  OBEYED.test(name) || (exported && !DATA.test(name) && !HARMLESS.test(name));

const NUMBER = /^-?\d*$/;
/** Variables of the shell that are always numbers. */
const NUMBERS = /^(?:[?#$!]|0|RANDOM|SRANDOM|SECONDS|LINENO|EPOCHSECONDS|UID|EUID|PPID|BASHPID|OPTIND)$/;
/** Substitutions that print a number. */
const PRINTS_NUMBER = /^\$\((?:nproc|date \+%s|wc -[lwcm](?: <)? ?[\w./-]*|ls(?: [\w./-]+)? \| wc -l)\)$/;

/**
 * Arithmetic evaluates the text of a variable: with `x='a[$(git push)]'`, `$((x))` pushes. So a variable in arithmetic has to be a number:
 * one that this line sets only to numbers, or one of the user that the line does not set.
 */
export class Variables {
  readonly #numbers = new Set<string>();
  readonly #texts = new Set<string>();
  readonly #evaluated = new Set<string>();
  /** Something may set any variable. */
  #any = false;

  set(name: string, value: Word | undefined, source = ""): void {
    const isNumber = (value?.text !== undefined && NUMBER.test(value.text)) || PRINTS_NUMBER.test(source);
    (isNumber || source.startsWith("$((") ? this.#numbers : this.#texts).add(name);
  }

  has(name: string): boolean {
    return this.#numbers.has(name) || this.#texts.has(name);
  }

  setAny(): void {
    this.#any = true;
  }

  /** Records all names in an arithmetic expression. */
  evaluate({ type, start, end, children }: Syntax, source: string): void {
    const text = source.slice(start, end);
    if (type === "command_substitution") {
      if (!PRINTS_NUMBER.test(text)) this.#evaluated.add("$(");
    } else if (/^(?:word|(?:special_)?variable_name|string_content|raw_string|ansi_c_string)$/.test(type)) {
      if (!/^'?-?\d+'?$/.test(text)) this.#evaluated.add(text);
      else if (type !== "word") this.#evaluated.add(text.replaceAll("'", "") === "0" ? "0" : text);
    } else {
      // Neither the name of an array nor all of its items are evaluated.
      const parts = type === "subscript" ? children.slice(1) : children;
      for (const child of parts) if (!/^[@*]$/.test(source.slice(child.start, child.end))) this.evaluate(child, source);
    }
  }

  /** Whether a variable may be something else than a number. */
  get hasTexts(): boolean {
    return this.#any || this.#texts.size > 0;
  }

  get isCalculated(): boolean {
    return this.#evaluated.size > 0;
  }

  get mayRun(): boolean {
    return [...this.#evaluated].some((name) => !this.#isNumber(name));
  }

  #isNumber(name: string): boolean {
    if (NUMBERS.test(name)) return true;
    if (this.#any || this.#texts.has(name)) return false;
    return this.#numbers.has(name) || /^[a-z]\w*$/.test(name);
  }
}
