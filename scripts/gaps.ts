/**
 * npm run test:gaps [-- COUNT [FIRST]]
 *
 * Random talks through a network that misbehaves, COUNT of them (default 1,000), with the seeds from FIRST on. The suite runs 20. A seed that
 * fails is printed, and fails again with `-- 1 SEED`.
 */
import process from "node:process";
import { gapRuns } from "../packages/client/test/faults/gap-runs.ts";

const [count = 1_000, first = 1] = process.argv.slice(2).map(Number);
const failed: number[] = [];
let runs = 0;
const ended = () => {
  if (++runs % 50 === 0) console.log(`${runs} runs, ${failed.length} failed`);
};
await gapRuns(
  Array.from({ length: count }, (_, at) => first + at),
  {
    passed: ended,
    failed: (seed, error) => {
      failed.push(seed);
      console.error(`seed ${seed}`, error);
      ended();
    },
  },
);
console.log(`${count} runs, ${failed.length} failed${failed.length > 0 ? `: ${failed.join(", ")}` : ""}`);
process.exit(failed.length > 0 ? 1 : 0);
