import process from "node:process";

/** `1`: lists and properties are tried whole. `runs`: only properties are. */
const whole = process.env["TEST_WHOLE"];
const SHARE_OF_RUNS = 3;

/**
 * Every `nth` item of a list, beginning with the first: what `npm test` tries of a list that takes minutes. `npm run test:whole` tries all
 * of it.
 */
export function shareOf<T>(list: readonly T[], nth: number): T[] {
  return list.filter((_, at) => whole === "1" || at % nth === 0);
}

/** How often a property is tried: a share of `runs` in `npm test`, all of them in `npm run test:whole` and for mutants. */
export const propertyRuns = (runs: number): number => (whole === undefined ? Math.ceil(runs / SHARE_OF_RUNS) : runs);
