export type Op =
  | { op: "char"; code: number }
  /** One character, not "/". */
  | { op: "any" }
  /** One character, "/" too. */
  | { op: "rest" }
  | { op: "class"; has(code: number): boolean }
  /** Continues at each of these positions. */
  | { op: "split"; to: number[] }
  | { op: "end" };

const codeOf = (char: string): number => char.codePointAt(0)!;
const charOp = (char: string): Op => ({ op: "char", code: codeOf(char) });
const NEGATIONS = ["!", "^"];

/**
 * Compiles patterns to one program, which accepts what any of them matches and never backtracks: its time is bounded by the lengths of
 * patterns and path.
 */
export function compile(patterns: readonly string[], options: { itself: boolean }): Op[] {
  const begins: number[] = [];
  const ops: Op[] = [{ op: "split", to: begins }];
  for (const pattern of patterns) {
    begins.push(ops.length);
    new Compiler(pattern, ops, options).sequence({ nameBegins: true, inBraces: false });
    ops.push({ op: "end" });
  }
  return ops;
}

interface Context {
  /** Whether a name begins here. */
  nameBegins: boolean;
  inBraces: boolean;
}

/** Appends the program of a pattern to others. */
class Compiler {
  readonly ops: Op[];
  readonly #text: string[];
  readonly #itself: boolean;
  #at = 0;

  constructor(pattern: string, ops: Op[], { itself }: { itself: boolean }) {
    this.ops = ops;
    this.#itself = itself;
    this.#text = [...pattern];
  }

  /** Compiles up to the end, or to the end of an alternative. Returns whether the end is the start of a name. */
  sequence({ nameBegins, inBraces }: Context): boolean {
    let first = nameBegins;
    while (this.#at < this.#text.length) {
      const next = this.#text[this.#at]!;
      if (inBraces && (next === "," || next === "}")) return first;
      if (next === "*") first = this.#stars({ nameBegins: first });
      else if (next === "/") first = this.#slash();
      else if (next === "{") first = this.#braces({ nameBegins: first });
      else {
        if (next === "[") this.#brackets();
        else if (next === "?") this.#single();
        else this.#literal(next);
        first = false;
      }
    }
    return first;
  }

  #single(): void {
    this.#at++;
    this.ops.push({ op: "any" });
  }

  #literal(next: string): void {
    const escaped = next === "\\" && this.#at + 1 < this.#text.length;
    if (escaped) this.#at++;
    this.ops.push(charOp(this.#text[this.#at++]!));
  }

  #stars({ nameBegins }: Pick<Context, "nameBegins">): boolean {
    const from = this.#at;
    while (this.#text[this.#at] === "*") this.#at++;
    if (!nameBegins || this.#at - from < 2) {
      this.#repeat("any");
      return false;
    }
    const next = this.#text[this.#at];
    if (next === undefined || next === "," || next === "}") {
      this.#repeat("rest");
      return false;
    }
    this.#folders();
    if (next === "/") {
      this.#at++;
      return true;
    }
    // "**.ts" is meant for any depth.
    this.#repeat("any");
    return false;
  }

  #repeat(op: "any" | "rest"): void {
    const at = this.ops.length;
    this.ops.push({ op: "split", to: [at + 1, at + 3] }, { op }, { op: "split", to: [at] });
  }

  /** Zero or more folders: `(name "/")*`. */
  #folders(): void {
    const at = this.ops.length;
    this.ops.push(
      { op: "split", to: [at + 1, at + 5] },
      { op: "any" },
      { op: "split", to: [at + 1, at + 3] },
      charOp("/"),
      { op: "split", to: [at] },
    );
  }

  /** "x/**" and "x/" at the end of a pattern match everything in x and, with `itself`, x. */
  #slash(): boolean {
    this.#at++;
    const rest = this.#text.slice(this.#at);
    if (rest.length === 1 || rest.some((next) => next !== "*")) {
      this.ops.push(charOp("/"));
      return true;
    }
    this.#at = this.#text.length;
    const at = this.ops.length;
    this.ops.push({ op: "split", to: this.#itself ? [at + 1, at + 5] : [at + 1] }, charOp("/"));
    this.#repeat("rest");
    return false;
  }

  /** "[ab]" is one of these characters, or this literal text: there are files called "[id].ts". */
  #brackets(): void {
    const from = this.#at;
    const end = this.#bracketEnd();
    if (end === undefined) return this.#literal("[");
    const whole = this.#text.slice(from, end + 1);
    const one: Op = { op: "class", has: members(whole.slice(1, -1)) };
    const at = this.ops.length;
    this.ops.push({ op: "split", to: [at + 1, at + 3] }, one, { op: "split", to: [at + 3 + whole.length] });
    for (const next of whole) this.ops.push(charOp(next));
    this.#at = end + 1;
  }

  /** The closing bracket: in the same name, and not the first character. */
  #bracketEnd(): number | undefined {
    let at = this.#at + 1;
    if (NEGATIONS.includes(this.#text[at]!)) at++;
    for (let first = true; at < this.#text.length && this.#text[at] !== "/"; at++, first = false) {
      if (this.#text[at] === "]" && !first) return at;
    }
    return undefined;
  }

  #braces({ nameBegins }: Pick<Context, "nameBegins">): boolean {
    if (!this.#isChoice()) {
      this.#literal("{");
      return false;
    }
    const split: Op = { op: "split", to: [] };
    const leave: Op[] = [];
    this.ops.push(split);
    let begins = false;
    do {
      this.#at++;
      split.to.push(this.ops.length);
      begins = this.sequence({ nameBegins, inBraces: true });
      leave.push({ op: "split", to: [] });
      this.ops.push(leave.at(-1)!);
    } while (this.#text[this.#at] === ",");
    this.#at++;
    for (const op of leave) if (op.op === "split") op.to.push(this.ops.length);
    return begins;
  }

  /** Braces that close and hold a comma. Others are literal. */
  #isChoice(): boolean {
    let depth = 0;
    let comma = false;
    for (let at = this.#at; at < this.#text.length; at++) {
      const next = this.#text[at]!;
      if (next === "\\") at++;
      else if (next === "{") depth++;
      else if (next === "," && depth === 1) comma = true;
      else if (next === "}" && --depth === 0) return comma;
    }
    return false;
  }
}

/** Whether a character is in the class. "/" never is. */
function members(inside: readonly string[]): (code: number) => boolean {
  const negated = NEGATIONS.includes(inside[0]!) && inside.length > 1;
  const listed = negated ? inside.slice(1) : inside;
  const ranges: [number, number][] = [];
  for (let at = 0; at < listed.length; at++) {
    const isRange = listed[at + 1] === "-" && at + 2 < listed.length;
    ranges.push([codeOf(listed[at]!), codeOf(listed[isRange ? at + 2 : at]!)]);
    if (isRange) at += 2;
  }
  return (one) => one !== codeOf("/") && ranges.some(([low, high]) => low <= one && one <= high) !== negated;
}
