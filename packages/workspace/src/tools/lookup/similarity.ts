/** How similar other texts are to one text: the share of adjacent pairs of letters that both have, from 0 to 1. */
export class Similarity {
  readonly #to: string;
  readonly #pairs: ReadonlyMap<number, number>;

  constructor(to: string) {
    this.#to = to;
    this.#pairs = pairsOf(to);
  }

  of(text: string): number {
    if (text === this.#to) return 1;
    if (text.length < 2 || this.#to.length < 2) return 0;
    let common = 0;
    for (const [pair, count] of pairsOf(text)) common += Math.min(count, this.#pairs.get(pair) ?? 0);
    return (2 * common) / (this.#to.length + text.length - 2);
  }
}

function pairsOf(text: string): Map<number, number> {
  const pairs = new Map<number, number>();
  for (let at = 0; at < text.length - 1; at++) {
    const pair = text.charCodeAt(at) * 65_536 + text.charCodeAt(at + 1);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}
