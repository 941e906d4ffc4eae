import assert from "node:assert/strict";
import { test } from "node:test";
import { gapRun } from "./gap-run.ts";

const SEEDS = 10;

for (const servers of [1, 2] as const)
  test(`through a network that misbehaves, a client of ${servers === 1 ? "one server" : "two servers"} shows every event once and in order`, async () => {
    const faults: Record<string, number> = {};
    for (let seed = 1; seed <= SEEDS; seed++) {
      const counts = await gapRun({ seed: seed * servers, servers }).catch((error: unknown) => {
        throw new Error(`seed ${seed * servers}, ${servers} servers`, { cause: error });
      });
      for (const [fault, count] of Object.entries(counts)) faults[fault] = (faults[fault] ?? 0) + count;
    }
    for (const [fault, count] of Object.entries(faults)) assert.ok(count > 0, `${fault} happened`);
  });
