import { median } from "./numbers.mjs";

/**
 * How long it takes to open each of these threads, in ms: the median of nine times. By turns: the first openings of a process are
 * slower, whatever is opened. `open` resolves with an open harness.
 */
export async function openingTimes(open, names, now) {
  const times = new Map(names.map((name) => [name, []]));
  for (let at = 0; at < 9; at++) {
    for (const [name, all] of times) {
      const from = now();
      const harness = await open(name);
      all.push(now() - from);
      await harness.close();
    }
  }
  return names.map((name) => median(times.get(name)));
}
