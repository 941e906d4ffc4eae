import process from "node:process";

/** Whether all of each list is tried, by `npm run test:whole`. */
export const isWhole = process.env["TEST_WHOLE"] !== undefined;

/**
 * Every `nth` item of a list, beginning with the one at `first`: what `npm test` tries of a list that takes minutes. `npm run test:whole`
 * tries all of it.
 */
export function shareOf<T>(list: readonly T[], nth: number, first = 0): T[] {
  return list.filter((_, at) => isWhole || at % nth === first);
}
