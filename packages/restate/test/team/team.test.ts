import assert from "node:assert/strict";
import { test } from "node:test";
import { injectFaults } from "./faults.ts";
import { Team } from "./team.ts";

test("three workers whose processes are killed and stopped for 5 s break no promise", async () => {
  await using team = await Team.start({ store: "postgres", placement: "restate", threads: 10 });
  const log = await injectFaults(team, { forMs: 5_000, messages: 21 });
  const { problems, ...counts } = await team.end(300_000);
  assert.deepEqual(problems, [], log.join("\n"));
  assert.ok(counts.turns > 20, `only ${counts.turns} turns`);
});
