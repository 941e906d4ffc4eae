import { inPackage } from "./mutant.ts";

/** The embedded store: which threads are awake, and who hears of it. */
export const awake = inPackage("packages/sqlite", [
  {
    attacks: "P3: a thread with a dead driver is left alone",
    file: "waiting-rows.ts",
    find: "WHERE holder IS NULL OR holder NOT IN living GROUP BY no",
    replace: "WHERE holder IS NULL GROUP BY no",
    tests: ["conformance"],
  },
  {
    attacks: "lists of threads: those that are awake do not follow",
    file: "list-changes.ts",
    find: "IN (0, 1, 2) AND touched > ?1",
    replace: "IN (0, 1) AND touched > ?1",
    tests: ["conformance"],
  },
  {
    attacks: "lists of threads: only what touches a thread is followed",
    file: "list-changes.ts",
    find: "UNION ALL ${rows} WHERE ${IS_CHANGED} AND changed > ?1",
    replace: "",
    tests: ["conformance"],
  },
  {
    attacks: "lists of threads: those that are awake are left out",
    file: "listing.ts",
    find: "const WORKING = [2, 1]",
    replace: "const WORKING = [1]",
    tests: ["conformance"],
  },
  {
    attacks: "lists of active threads: those that wait for a person are left out",
    file: "listing.ts",
    find: "const WORKING = [2, 1]",
    replace: "const WORKING = [2]",
    tests: ["listing"],
  },
  {
    attacks: "lists of threads: a statement is planned again each time that it runs",
    file: "sql.ts",
    find: "`LIMIT ${parameter} + 0`",
    replace: "`LIMIT ${parameter}`",
    tests: ["statements"],
  },
  {
    attacks: "lists of threads: the number of a change is given twice",
    file: "schema.ts",
    find: "${lastTouch(1)}, ${lastTouch(2)}",
    replace: "${lastTouch(1)}, 0",
    tests: ["conformance"],
  },
  {
    attacks: "lists of threads: a touch has the number of an earlier change",
    file: "schema.ts",
    find: '${newest("changed", IS_CHANGED)})',
    replace: "0)",
    tests: ["conformance"],
  },
  {
    attacks: "P3: a thread that is touched is not awake",
    file: "thread-rows.ts",
    find: "         woken_at = ?6, changed",
    replace: "         last = coalesce(?6, last), changed",
    tests: ["conformance"],
  },
  {
    attacks: "fairness: driven threads of a resource do not count",
    file: "waiting-rows.ts",
    find: "coalesce(count, 0) + row_number()",
    replace: "row_number()",
    tests: ["conformance"],
  },
  {
    attacks: "P3: seats at a thread are not told that its driver died",
    file: "followers.ts",
    find: "if (performance.now() - this.#deathsAt >= DEATHS_MS) this.#pollDeaths();",
    replace: "",
    tests: ["conformance"],
  },
  {
    attacks: "a wake is lost: the caller learns that a dead driver will see its input",
    file: "append.ts",
    find: "driven: !release && (isDriven || take !== undefined)",
    replace: "driven: !release && (lease.holder !== null || take !== undefined)",
    tests: ["conformance"],
  },
]);
