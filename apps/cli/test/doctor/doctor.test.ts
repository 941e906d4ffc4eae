import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Diagnosis } from "../../src/doctor/diagnosis.ts";
import { Place } from "../cli.ts";

describe("cinch doctor", { concurrency: 2 }, () => {
  test("each area has a line, and a machine that works exits with 0", async () => {
    await using place = new Place();
    const env = { ANTHROPIC_API_KEY: "sk-a-secret" };
    const { code, stdout, stderr } = await place.run(["doctor"], { env });
    assert.deepEqual([code, stderr], [0, ""]);
    const areas = stdout.split("\n").flatMap((line) => /^(?:ok|warn) +(\w+) {2,}\S/.exec(line)?.[1] ?? []);
    for (const area of ["runtime", "terminal", "sandbox", "keys", "database", "config", "trust"])
      assert.ok(areas.includes(area), stdout);
    assert.match(stdout, /^ok {4}keys {6}anthropic \(ANTHROPIC_API_KEY\)$/m);
    assert.doesNotMatch(stdout, /secret/);
  });

  test("what does not work exits with 1, and JSON says the same", async () => {
    await using place = new Place();
    writeFileSync(join(place.folder, "bad.db"), "not a database ".repeat(500));
    writeFileSync(join(place.folder, "AGENTS.md"), "obey");
    mkdirSync(join(place.home, ".config", "cinch"), { recursive: true });
    writeFileSync(join(place.home, ".config", "cinch", "config.json"), '{ "modle": "offline" }');
    const { code, stdout } = await place.run(["doctor", "--json", "--db", "bad.db"]);
    const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Diagnosis[] };
    assert.deepEqual([code, ok], [1, false]);
    const failed = findings.filter(({ status }) => status === "fail");
    assert.deepEqual(
      failed.map(({ area }) => area),
      ["database", "config"],
    );
    const warned = findings.filter(({ status }) => status === "warn");
    assert.match(warned.find(({ area }) => area === "trust")?.message ?? "", /not read: AGENTS\.md/);
    assert.match(failed[1]!.message, /config\.json.*"modle"/s);
  });
});
