/** How similar other texts are to one text: the share of adjacent pairs of letters that both have, from 0 to 1. */
export function similarityTo(text: string): (other: string) => number {
  const pairs = pairsOf(text);
  return (other) => {
    if (other === text) return 1;
    if (other.length < 2 || text.length < 2) return 0;
    let common = 0;
    for (const [pair, count] of pairsOf(other)) common += Math.min(count, pairs.get(pair) ?? 0);
    return (2 * common) / (text.length + other.length - 2);
  };
}

function pairsOf(text: string): Map<number, number> {
  const pairs = new Map<number, number>();
  for (let at = 0; at < text.length - 1; at++) {
    const pair = text.charCodeAt(at) * 65_536 + text.charCodeAt(at + 1);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}
