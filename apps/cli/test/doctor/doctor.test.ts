import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Diagnosis } from "../../src/doctor/diagnosis.ts";
import { Place } from "../cli.ts";

describe("cinch doctor", { concurrency: 2 }, () => {
  test("each area has a line, and a machine that works exits with 0", async () => {
    await using place = new Place();
    const { code, stdout, stderr } = await place.run(["doctor"]);
    assert.deepEqual([code, stderr], [0, ""]);
    const areas = stdout.split("\n").flatMap((line) => /^(?:ok|warn) +(\w+) {2,}\S/.exec(line)?.[1] ?? []);
    for (const area of ["runtime", "terminal", "sandbox", "database"]) assert.ok(areas.includes(area), stdout);
  });

  test("what does not work exits with 1, and JSON says the same", async () => {
    await using place = new Place();
    writeFileSync(join(place.folder, "bad.db"), "not a database ".repeat(500));
    const { code, stdout } = await place.run(["doctor", "--json", "--db", "bad.db"]);
    const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Diagnosis[] };
    assert.deepEqual([code, ok], [1, false]);
    const failed = findings.filter(({ status }) => status === "fail");
    assert.deepEqual(
      failed.map(({ area }) => area),
      ["database"],
    );
  });
});
