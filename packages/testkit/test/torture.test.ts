import assert from "node:assert/strict";
import { test } from "node:test";
import { crashPoints, tortureAll } from "@cinch/testkit";

test(
  "after a kill at any point, no accepted command is lost, no finished call runs twice, and the next process continues",
  { timeout: 300_000 },
  async () => {
    const points = crashPoints();
    const once = points.map((point) => [point]);
    // For a tenth of the points the next process is killed too, just after its takeover.
    const twice = points.filter((_, at) => at % 10 === 0).map((point) => [point, "agent_start:after"]);
    const verdicts = await tortureAll([...once, ...twice]);
    assert.equal(verdicts.length, once.length + twice.length);
    assert.deepEqual(
      verdicts.filter(({ problems }) => problems.length > 0),
      [],
    );
  },
);
