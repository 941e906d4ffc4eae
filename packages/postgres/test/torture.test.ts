import assert from "node:assert/strict";
import { test } from "node:test";
import { crashPoints, tortureAll } from "@cinch/testkit";
import { torturedPostgres } from "./tortured.ts";

/** A few of all kinds. `npm run test:chaos` kills processes at all points. */
const POINTS = [
  ["thread_created:inside"],
  ["input_accepted:inside", "agent_start:after"],
  ["tool_start:after", "tool_end:inside"],
  ["message_end:before"],
  ["thread_rewound:inside"],
  ["subagent_start:after"],
  ["thread_cloned:inside"],
];

test(
  "after a kill, no accepted command is lost, no finished call runs twice, and the next process continues",
  { timeout: 300_000 },
  async () => {
    for (const point of POINTS.flat()) assert.ok(crashPoints().includes(point), point);
    const verdicts = await tortureAll(POINTS, { ...(await torturedPostgres()), cores: 3 });
    assert.deepEqual(
      verdicts.filter(({ problems }) => problems.length > 0),
      [],
    );
  },
);
