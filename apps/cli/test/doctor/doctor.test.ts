import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Diagnosis } from "../../src/doctor/diagnosis.ts";
import { Place } from "../cli.ts";
import { runWithMounts } from "../mounted.ts";

/** `$1`: the folder to mount, `$2`: Node, `$3`: the program. Prints the exit code of each doctor after its findings. */
const READ_ONLY_DISK = `
  mount -t tmpfs -o size=64m cinch "$1" && mkdir "$1/used" "$1/new" || exit
  cd "$1/used" && "$2" "$3" run hello >&2 && mount -o remount,ro "$1" || exit
  for folder in used new; do cd "$1/$folder"; "$2" "$3" doctor --json; echo ",$?,"; done`;

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

  test("without a key, a model whose server needs none is not said to be replaced by the offline one", async () => {
    await using place = new Place();
    const { stdout } = await place.run(["doctor"], { env: { CINCH_MODEL: "ollama/qwen3" } });
    assert.match(stdout, /^ok {4}config {4}model ollama\/qwen3;/m);
    assert.match(
      stdout,
      /^warn {2}keys {6}no provider has a key: only the offline model answers, or a server that needs none$/m,
    );
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

  test("on a disk that is read-only, a healthy database and one that can't be made fail, and the advice harms neither", async (t) => {
    await using place = new Place();
    const env = { HOME: place.home, CINCH_OFFLINE_DELAY_MS: "0" };
    const ran = await runWithMounts(t, READ_ONLY_DISK, { folder: place.folder, env });
    if (!ran) return;
    const [used, usedCode, fresh, freshCode] = JSON.parse(`[${ran.stdout}0]`) as [Report, number, Report, number];
    assert.deepEqual([usedCode, freshCode], [1, 1]);
    for (const [folder, { findings }] of Object.entries({ used, new: fresh }))
      assert.deepEqual(
        findings.filter(({ status }) => status === "fail"),
        [
          {
            area: "database",
            status: "fail",
            message: `${join(place.folder, folder, ".cinch", "cinch.db")} can't be written (EROFS: read-only file system)`,
            next: "make it writable, or use --db FILE",
          },
        ],
      );
  });
});

interface Report {
  findings: Diagnosis[];
}
