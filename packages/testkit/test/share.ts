import process from "node:process";

/**
 * Every `nth` item of a list, beginning with the first: what `npm test` tries of a list that takes minutes. `npm run test:whole` tries all
 * of it.
 */
export function shareOf<T>(list: readonly T[], nth: number): T[] {
  return list.filter((_, at) => process.env["TEST_WHOLE"] !== undefined || at % nth === 0);
}
