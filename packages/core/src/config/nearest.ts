/** The known name that is most similar to a misspelt one. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const wanted = normalized(name);
  let best: { name: string; distance: number } | undefined;
  for (const candidate of known) {
    const other = normalized(candidate);
    const max = Math.max(2, Math.floor(Math.max(wanted.length, other.length) / 3));
    const distance = isPartOf(wanted, other) ? 1 : distanceOf(wanted, other);
    if (distance <= max && distance < Math.min(wanted.length, other.length) && distance < (best?.distance ?? Infinity))
      best = { name: candidate, distance };
  }
  return best?.name;
}

/** The end of a message about an unknown name: the most similar known name, or all of them. */
export function didYouMean(name: string, known: readonly string[]): string {
  const similar = nearest(name, known);
  if (similar !== undefined) return `did you mean "${similar}"?`;
  return known.length === 0 ? "there are none." : `there are ${known.map((one) => `"${one}"`).join(", ")}.`;
}

const normalized = (name: string): string =>
  name
    .slice(0, 100)
    .toLowerCase()
    .replaceAll(/[-_\s]/g, "");

/** Such as "inputSchema" and "input". */
const isPartOf = (a: string, b: string): boolean =>
  Math.min(a.length, b.length) > 3 && (a.includes(b) || b.includes(a));

/** The Damerau-Levenshtein distance, without edits inside a swap. */
function distanceOf(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const [above, before] = [rows[i - 1]!, row[j - 1]!];
      const changed = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? rows[i - 2]![j - 2]! + 1 : Infinity;
      row.push(Math.min(above[j]! + 1, before + 1, changed, swapped));
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
