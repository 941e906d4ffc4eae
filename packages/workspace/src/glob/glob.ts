import { compile, type Op } from "./program.ts";

export const MAX_PATTERN_LENGTH = 1_000;

export interface GlobOptions {
  /** Letters are the same in either case, and composed as well as decomposed. */
  ignoreCase?: boolean;
  /** `x/**` is also for `x`. */
  itself?: boolean;
}

/** A pattern, for paths. A slash at the beginning of either of them does not matter. */
export interface Glob {
  matches(path: string): boolean;
  /** Whether something below this directory could match. */
  reaches(directory: string): boolean;
  /** Whether everything below this directory matches, whatever comes into it. Only a pattern that ends in "**" or "/" says so. */
  covers(directory: string): boolean;
}

/**
 * `*` and `?` stay within a name, `**` + `/` is any number of folders and also none, `{a,b}` is either, `[a-c]` one of these characters
 * or just this text, `\` takes the next character as it is. Names that begin with a dot match, parentheses are just characters, `x/` is
 * `x/**`. A pattern that is too long throws a `RangeError`.
 *
 * Not a regular expression behind the scenes: one that goes back takes minutes for "*a*a*a*a*a*a*b" and a name full of a's.
 */
export function glob(pattern: string, { ignoreCase = false, itself = false }: GlobOptions = {}): Glob {
  if (pattern.length > MAX_PATTERN_LENGTH)
    throw new RangeError(`A pattern has at most ${MAX_PATTERN_LENGTH} characters.`);
  const form = ignoreCase ? folded : (text: string) => text;
  const plain = form(trimmed(pattern)).replace(/(^|\/)(?:\*\*\/)+/g, "$1**/");
  const machine = new Machine(compile(plain, { itself }));
  const ending = literalEnd(plain);
  return {
    matches(path) {
      const text = form(trimmed(path));
      return text.endsWith(ending) && machine.accepts(text);
    },
    reaches: (directory) => machine.survives(form(trimmed(directory))),
    covers: (directory) => machine.takesAll(form(trimmed(directory))),
  };
}

const folded = (text: string): string => text.normalize("NFC").toLowerCase().normalize("NFC");

const trimmed = (text: string): string => {
  let at = 0;
  while (text[at] === "/" || (text[at] === "." && text[at + 1] === "/")) at++;
  return at === 0 ? text : text.slice(at);
};

/** What every match ends in: most paths are told apart by it, without running anything. */
const literalEnd = (pattern: string): string => /[^*?[\]{}\\/,]*$/.exec(pattern)![0];

/** Runs a program over a text, in all its places at once. */
class Machine {
  readonly #ops: readonly Op[];
  /** Where one is, having come to a place: there, or everywhere it splits into. Found when it is needed. */
  readonly #reached: (readonly number[] | undefined)[] = [];
  /** In which round a place was entered last. */
  readonly #entered: Float64Array;
  #round = 0;

  constructor(ops: readonly Op[]) {
    this.#ops = ops;
    this.#entered = new Float64Array(ops.length);
  }

  accepts(text: string): boolean {
    return this.#run(text).some((at) => this.#ops[at]!.op === "end");
  }

  survives(directory: string): boolean {
    return this.#enter(directory).some((at) => this.#ops[at]!.op !== "end");
  }

  takesAll(directory: string): boolean {
    const endsHere = (at: number) => this.#from(at + 1).some((next) => this.#ops[next]!.op === "end");
    return this.#enter(directory).some((at) => this.#ops[at]!.op === "rest" && endsHere(at));
  }

  #enter(directory: string): readonly number[] {
    return this.#run(directory === "" ? "" : `${directory}/`);
  }

  #run(text: string): readonly number[] {
    let places = this.#from(0);
    for (let at = 0; at < text.length && places.length > 0;) {
      const code = text.codePointAt(at)!;
      at += code > 0xffff ? 2 : 1;
      const round = ++this.#round;
      const next: number[] = [];
      for (const place of places) {
        if (!takes(this.#ops[place]!, code)) continue;
        for (const entered of this.#from(place + 1)) {
          if (this.#entered[entered] === round) continue;
          this.#entered[entered] = round;
          next.push(entered);
        }
      }
      places = next;
    }
    return places;
  }

  #from(place: number): readonly number[] {
    return (this.#reached[place] ??= this.#split(place));
  }

  #split(from: number): number[] {
    const seen = new Set([from]);
    for (const at of seen) {
      const op = this.#ops[at]!;
      if (op.op === "split") for (const to of op.to) seen.add(to);
    }
    return [...seen].filter((at) => this.#ops[at]!.op !== "split");
  }
}

const SLASH = 47;

function takes(op: Op, code: number): boolean {
  switch (op.op) {
    case "char":
      return op.code === code;
    case "any":
      return code !== SLASH;
    case "rest":
      return true;
    case "class":
      return op.has(code);
    case "split":
    case "end":
      return false;
    default:
      return op satisfies never;
  }
}
