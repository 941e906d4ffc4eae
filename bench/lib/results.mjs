import { median } from "./numbers.mjs";

/** The measurements, by product and key. */
export class Results {
  #runs = new Map();

  add(product, key, result) {
    const name = `${product} ${key}`;
    this.#runs.set(name, [...(this.#runs.get(name) ?? []), result]);
  }

  /** The median of each number over the repetitions, and the newest of all other values. */
  medians(product, key) {
    const runs = (this.#runs.get(`${product} ${key}`) ?? []).filter(({ failed }) => failed === undefined);
    const fields = Object.entries(runs.at(-1) ?? {});
    return Object.fromEntries(
      fields.map(([field, value]) => {
        return [field, typeof value === "number" ? median(runs.map((run) => run[field])) : value];
      }),
    );
  }

  /** Why a row could not be measured for Cinch. */
  failureOf(row) {
    for (const { key, next: following = [] } of row.runs) {
      for (const name of [key, ...following.map((next) => `${key}.${next}`)]) {
        const failed = (this.#runs.get(`cinch ${name}`) ?? []).find((run) => run.failed !== undefined);
        // The crash scenario always fails; the recovery after it is what is measured.
        if (failed && !(name === key && following.includes("recover"))) return failed.failed.split("\n")[0];
      }
    }
    return undefined;
  }
}
