import assert from "node:assert/strict";
import { test } from "node:test";
import { gapRun } from "./gap-run.ts";

const SEEDS = 10;

for (const servers of [1, 2] as const) {
  const whose = servers === 1 ? "one server" : "two servers on one store";
  test(`through a network that misbehaves, a client of ${whose} shows every event once and in order`, async () => {
    const faults: Record<string, number> = {};
    // Odd seeds have one server, even ones two: as in `npm run test:gaps`.
    for (let seed = servers; seed <= 2 * SEEDS; seed += 2) {
      const counts = await gapRun({ seed, servers }).catch((error: unknown) => {
        throw new Error(`npm run test:gaps -- 1 ${seed}`, { cause: error });
      });
      for (const [fault, count] of Object.entries(counts)) faults[fault] = (faults[fault] ?? 0) + count;
    }
    for (const [fault, count] of Object.entries(faults)) assert.ok(count > 0, `${fault} happened`);
  });
}
