/**
 * npm run mutants [-- PATTERN…]
 *
 * Makes one small change at a time to the code behind the promises, and runs the tests that must fail. If no test fails within a minute,
 * a test is missing. PATTERNs select the mutants whose file, text or promise contains one of them.
 */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { mutants } from "./mutants/index.ts";
import { occurrences, type Mutant } from "./mutants/mutant.ts";
import { root, Tree } from "./mutants/tree.ts";

const MAX_TREES = 2;
const patterns = process.argv.slice(2).map((pattern) => pattern.toLowerCase());
const chosen = mutants.filter(({ file, attacks, find }) => {
  const text = `${file}\n${attacks}\n${find}`.toLowerCase();
  return patterns.length === 0 || patterns.some((pattern) => text.includes(pattern));
});
const problems: string[] = [];
const nameOf = ({ file, attacks, find }: Mutant) => `${attacks}  [${file}: ${find.split("\n")[0]}]`;

const applying = chosen.filter((mutant) => {
  const times = occurrences(readFileSync(join(root, mutant.file), "utf8"), mutant);
  if (times !== 1) problems.push(`does not apply (found ${times} times): ${nameOf(mutant)}`);
  return times === 1;
});
const trees = Array.from({ length: Math.min(availableParallelism(), MAX_TREES) }, () => new Tree());
process.once("exit", () => trees.forEach((tree) => tree.remove()));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

const sets = Map.groupBy(applying, ({ tests }) => tests.join(" "));
/** How long the tests that pass take without any change. */
const baseline = new Map<string, number>();
await inParallel([...sets], async (tree, [set, some]) => {
  const started = performance.now();
  const outcome = await tree.run(some[0]!.tests);
  if (outcome === "passed") baseline.set(set, performance.now() - started);
  else problems.push(`tests ${outcome} without any change: ${set}`);
});

let caught = 0;
const waiting = applying.filter(({ tests }) => baseline.has(tests.join(" ")));
await inParallel(waiting, async (tree, mutant) => {
  const started = performance.now();
  const outcome = await tree.withMutant(mutant, baseline.get(mutant.tests.join(" "))!);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (outcome === "failed") caught++;
  else problems.push(`${outcome === "passed" ? "survived" : "hung for a minute"}: ${nameOf(mutant)}`);
  console.log(
    `${outcome === "failed" ? "caught  " : outcome.toUpperCase()} ${seconds.padStart(5)} s  ${nameOf(mutant)}`,
  );
});

console.log(`${caught} of ${chosen.length} mutants were caught`);
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);

/** Each tree works on one item at a time. */
async function inParallel<T>(items: readonly T[], work: (tree: Tree, item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  await Promise.all(
    trees.map(async (tree) => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await work(tree, item);
    }),
  );
}
