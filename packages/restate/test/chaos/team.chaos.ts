import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { injectFaults } from "../team/faults.ts";
import { Team } from "../team/team.ts";

const FIVE_MINUTES = 300_000;

describe("three workers and two fronts whose processes and servers are killed and stopped for 5 minutes break no promise", () => {
  for (const { store, placement } of [
    { store: "postgres", placement: "restate" },
    { store: "postgres", placement: "graphile" },
    { store: "sqlite", placement: "restate" },
  ] as const) {
    test(`${store} with ${placement}`, { timeout: 2 * FIVE_MINUTES }, async () => {
      await using team = await Team.start({ store, placement, threads: 60 });
      const log = await injectFaults(team, { forMs: FIVE_MINUTES });
      const { problems, ...counts } = await team.end(120_000);
      console.log(log.join("\n"), counts);
      assert.deepEqual(problems, []);
      assert.ok(counts.turns > 60, `only ${counts.turns} turns`);
    });
  }
});
