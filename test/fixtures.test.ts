import assert from "node:assert/strict";
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { sqliteStore } from "@cinch/sqlite";
import { mainThread, playScenario, tortureHarness } from "@cinch/testkit";
import { seenIn } from "./fixture.ts";

/** Journals that releases have written. They must open in every later one, with everything that is pending in them. */
const fixtures = globSync("fixtures/*/*.db", { cwd: import.meta.dirname });

test("there are journals of a release to open", () => {
  assert.ok(fixtures.length > 0);
});

for (const fixture of fixtures) {
  const path = join(import.meta.dirname, fixture);
  test(`${fixture} shows what it showed when it was written`, async () => {
    assert.deepEqual(await seenIn(path), JSON.parse(readFileSync(path.replace(/db$/, "json"), "utf8")));
  });

  test(`${fixture} goes on to the end`, { timeout: 60_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "cinch-fixture-"));
    try {
      copyFileSync(path, join(folder, "cinch.db"));
      const store = sqliteStore({ path: join(folder, "cinch.db") });
      const h = tortureHarness(store, join(folder, "ledger"));
      await h.init();
      await mainThread(h);
      await playScenario(h, store, () => undefined);
      const { status, messages } = h.getDisplayState();
      assert.deepEqual([status, messages.at(-1)?.content], ["idle", [{ type: "text", text: "cloned" }]]);
      await h.close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
