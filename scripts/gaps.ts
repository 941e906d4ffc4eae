/**
 * npm run test:gaps [-- COUNT [FIRST]]
 *
 * Random talks through a network that misbehaves, COUNT of them (default 1,000), with the seeds from FIRST on. The suite runs 20. A seed that
 * fails is printed, and fails again with `-- 1 SEED`.
 */
import process from "node:process";
import { gapRun } from "../packages/client/test/faults/gap-run.ts";

const [count = 1_000, first = 1] = process.argv.slice(2).map(Number);
const failed: number[] = [];
for (let seed = first; seed < first + count; seed++) {
  try {
    await gapRun({ seed, servers: seed % 2 === 0 ? 2 : 1 });
  } catch (error) {
    failed.push(seed);
    console.error(`seed ${seed}`, error);
  }
  if (seed % 50 === 0) console.log(`${seed - first + 1} runs, ${failed.length} failed`);
}
console.log(`${count} runs, ${failed.length} failed${failed.length > 0 ? `: ${failed.join(", ")}` : ""}`);
process.exit(failed.length > 0 ? 1 : 0);
