/** How many letters may be wrong. */
const MAX_DISTANCE = 2;

/** The known name that was probably meant, or `undefined`. It is not that of the core, because `--help` and completion must not load it. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const lengthened = ({ candidate }: { candidate: string }) => Math.abs(candidate.length - name.length);
  const ranked = known
    .map((candidate) => ({ candidate, distance: distanceOf(name.slice(0, 50), candidate) }))
    .filter(({ candidate, distance }) => distance <= MAX_DISTANCE && distance < candidate.length / 2)
    .toSorted((one, other) => one.distance - other.distance || lengthened(one) - lengthened(other));
  return ranked[0]?.candidate ?? known.find((candidate) => name.length >= 3 && candidate.startsWith(name));
}

/** How many letters have to be added, removed, replaced or swapped with the next one. */
function distanceOf(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i++) {
    const [above, row] = [rows[i - 1]!, [i]];
    for (let j = 1; j <= b.length; j++) {
      const replaced = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? rows[i - 2]![j - 2]! + 1 : Infinity;
      row.push(Math.min(above[j]! + 1, row[j - 1]! + 1, replaced, swapped));
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
