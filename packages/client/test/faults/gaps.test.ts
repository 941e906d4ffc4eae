import assert from "node:assert/strict";
import { test } from "node:test";
import { shareOf } from "../../../testkit/test/share.ts";
import { gapRuns } from "./gap-runs.ts";

const SEEDS = 10;

for (const servers of [1, 2] as const) {
  const whose = servers === 1 ? "one server" : "two servers on one store";
  test(`through a network that misbehaves, a client of ${whose} shows every event once, and every command happens once`, async () => {
    const faults: Record<string, number> = {};
    // Odd seeds have one server, even ones two: as in `npm run test:gaps`.
    const seeds = Array.from({ length: SEEDS }, (_, at) => servers + 2 * at);
    await gapRuns(shareOf(seeds, 2), {
      failed: (seed, error) => {
        throw new Error(`npm run test:gaps -- 1 ${seed}`, { cause: error });
      },
      passed: (_, counts) => {
        for (const [fault, count] of Object.entries(counts)) faults[fault] = (faults[fault] ?? 0) + count;
      },
    });
    for (const [fault, count] of Object.entries(faults)) assert.ok(count > 0, `${fault} happened`);
  });
}
