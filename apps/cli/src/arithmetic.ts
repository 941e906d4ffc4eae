/** The text is not an expression that can be evaluated. */
export class ArithmeticError extends Error {
  override readonly name = "ArithmeticError";
}

const MAX_LENGTH = 500;
const MAX_DEPTH = 50;
const TOKEN = /\s*(\d+(?:\.\d+)?(?:e[+-]?\d+)?|\.\d+|[a-z]+|\*\*|[-+*/%^()×÷])/iy;

const constants: Readonly<Record<string, number>> = { pi: Math.PI, e: Math.E };
const functions: Readonly<Record<string, (value: number) => number>> = {
  sqrt: Math.sqrt,
  abs: Math.abs,
  round: Math.round,
  floor: Math.floor,
  ceil: Math.ceil,
  ln: Math.log,
  log: Math.log10,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
};

/** Evaluates expressions like `2 * (3 + 4) ^ 2`, with a parser of its own, so that no text is ever run as code. */
export function evaluate(expression: string): number {
  if (expression.length > MAX_LENGTH) throw new ArithmeticError(`Too long: at most ${MAX_LENGTH} characters.`);
  const value = new Parser(tokensOf(expression)).whole();
  if (Number.isNaN(value)) throw new ArithmeticError("The result is not a number.");
  if (!Number.isFinite(value)) throw new ArithmeticError("The result is too large.");
  return value;
}

function tokensOf(expression: string): string[] {
  const tokens: string[] = [];
  const text = expression.trimEnd();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex;
    const token = TOKEN.exec(text)?.[1];
    if (token === undefined) throw new ArithmeticError(`Can't read "${text.slice(at, at + 10)}".`);
    tokens.push(token.toLowerCase());
  }
  return tokens;
}

class Parser {
  readonly #tokens: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  whole(): number {
    const value = this.#sum();
    const rest = this.#tokens[this.#at];
    if (rest !== undefined) throw new ArithmeticError(`"${rest}" is not expected there.`);
    return value;
  }

  #next(...wanted: string[]): string | undefined {
    const token = this.#tokens[this.#at];
    if (token === undefined || !wanted.includes(token)) return undefined;
    this.#at++;
    return token;
  }

  #sum(): number {
    let value = this.#product();
    for (let sign = this.#next("+", "-"); sign; sign = this.#next("+", "-")) {
      const right = this.#product();
      value = sign === "+" ? value + right : value - right;
    }
    return value;
  }

  #product(): number {
    let value = this.#signed();
    for (let sign = this.#next("*", "×", "/", "÷", "%"); sign; sign = this.#next("*", "×", "/", "÷", "%")) {
      const right = this.#signed();
      if (right === 0 && sign !== "*" && sign !== "×") throw new ArithmeticError("Division by zero.");
      if (sign === "%") value %= right;
      else value = sign === "*" || sign === "×" ? value * right : value / right;
    }
    return value;
  }

  #signed(): number {
    if (++this.#depth > MAX_DEPTH) throw new ArithmeticError("Nested too deeply.");
    const sign = this.#next("+", "-");
    const value = sign ? this.#signed() * (sign === "-" ? -1 : 1) : this.#power();
    this.#depth--;
    return value;
  }

  #power(): number {
    const base = this.#atom();
    return this.#next("^", "**") ? base ** this.#signed() : base;
  }

  #atom(): number {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw new ArithmeticError("The end of the expression is missing.");
    if (token === "(") return this.#closed();
    const value = Number(token);
    if (!Number.isNaN(value)) return value;
    const apply = Object.hasOwn(functions, token) ? functions[token] : undefined;
    if (apply && this.#next("(")) return apply(this.#closed());
    const constant = Object.hasOwn(constants, token) ? constants[token] : undefined;
    if (constant !== undefined) return constant;
    throw new ArithmeticError(`"${token}" is not a number.`);
  }

  #closed(): number {
    const value = this.#sum();
    if (!this.#next(")")) throw new ArithmeticError('A ")" is missing.');
    return value;
  }
}
