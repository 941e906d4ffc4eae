import assert from "node:assert/strict";
import { test } from "node:test";
import { crashPoints, tortureAll } from "@cinch/testkit";
import { torturedPostgres } from "../tortured.ts";

test(
  "after a kill at any point, no accepted command is lost, no finished call runs twice, and the next process continues",
  { timeout: 3_600_000 },
  async () => {
    const points = crashPoints();
    // For a tenth of the points the next process is killed too, just after its takeover.
    const lists = points.map((point, at) => (at % 10 === 0 ? [point, "agent_start:after"] : [point]));
    const verdicts = await tortureAll(lists, {
      ...(await torturedPostgres()),
      onVerdict: ({ points: killedAt, problems }) => console.log(killedAt.join(", "), ...problems),
    });
    assert.deepEqual(
      verdicts.filter(({ problems }) => problems.length > 0),
      [],
    );
  },
);
