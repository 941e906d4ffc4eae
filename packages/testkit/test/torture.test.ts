import assert from "node:assert/strict";
import { test } from "node:test";
import { crashPoints, tortureAll } from "@cinch/testkit";

test(
  "killed at every point, nothing accepted is lost, nothing finished runs twice, and the next process goes on",
  { timeout: 300_000 },
  async () => {
    const points = crashPoints();
    const once = points.map((point) => [point]);
    // For a tenth of them the process that goes on is killed too, just after it has taken over.
    const twice = points.filter((_, at) => at % 10 === 0).map((point) => [point, "agent_start:after"]);
    const verdicts = await tortureAll([...once, ...twice]);
    assert.equal(verdicts.length, once.length + twice.length);
    assert.deepEqual(
      verdicts.filter(({ problems }) => problems.length > 0),
      [],
    );
  },
);
