const words = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");

/** A number in digits or, up to twelve, as a word. */
export const NUMBER = `\\d+(?:\\.\\d+)?|${words.join("|")}|an?`;

export function numberOf(text: string): number {
  const word = words.indexOf(text.toLowerCase());
  if (word >= 0) return word;
  return /^an?$/i.test(text) ? 1 : Number(text);
}

const spoken: readonly [RegExp, string][] = [
  [/\bplus\b/gi, "+"],
  [/\bminus\b/gi, "-"],
  [/\b(?:times|multiplied by)\b/gi, "*"],
  [/\bdivided by\b/gi, "/"],
  [/\bto the power of\b/gi, "^"],
  [/\bsquared\b/gi, "^2"],
  [/\bmodulo\b/gi, "%"],
  [/(?<=\d)\s*x\s*(?=\d)/gi, "*"],
  [/\bsquare root of (\d+(?:\.\d+)?)/gi, "sqrt($1)"],
];

/** The arithmetic expression in a sentence, if there is one: it has at least an operator or a function. */
export function expressionIn(text: string): string | undefined {
  const written = spoken.reduce((before, [pattern, sign]) => before.replace(pattern, sign), text);
  const found =
    written.match(/(?:(?:sqrt|abs|round|floor|ceil|ln|log|sin|cos|tan)\s*(?=\()|[-+*/%^().×÷\s]|\d|\bpi\b)+/gi) ?? [];
  const longest = found.map((piece) => piece.trim().replace(/[.\s]+$/, "")).toSorted((a, b) => b.length - a.length)[0];
  if (!longest || !/\d|pi/i.test(longest)) return undefined;
  return /(?:\d|\)|pi)\s*[-+*/%^×÷]|[a-z]\s*\(/i.test(longest) ? longest : undefined;
}
