/** How alike texts are to one of them. */
export class Similarity {
  readonly #to: string;
  readonly #pairs: ReadonlyMap<number, number>;

  constructor(to: string) {
    this.#to = to;
    this.#pairs = pairsOf(to);
  }

  /** From 0 to 1: the share of neighbouring letters that they have in common. */
  of(text: string): number {
    if (text === this.#to) return 1;
    if (text.length < 2 || this.#to.length < 2) return 0;
    const used = new Map<number, number>();
    let common = 0;
    for (let at = 0; at < text.length - 1; at++) {
      const pair = pairAt(text, at);
      const there = this.#pairs.get(pair);
      if (there === undefined) continue;
      const count = used.get(pair) ?? 0;
      if (count === there) continue;
      used.set(pair, count + 1);
      common++;
    }
    return (2 * common) / (this.#to.length + text.length - 2);
  }
}

const pairAt = (text: string, at: number): number => text.charCodeAt(at) * 65_536 + text.charCodeAt(at + 1);

function pairsOf(text: string): Map<number, number> {
  const pairs = new Map<number, number>();
  for (let at = 0; at < text.length - 1; at++) {
    const pair = pairAt(text, at);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}
