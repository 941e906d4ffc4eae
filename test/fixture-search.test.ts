import assert from "node:assert/strict";
import { copyFileSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { eventText, wordsOf } from "@cinch/core/store";
import { sqliteStore } from "@cinch/sqlite";
import { shareOf } from "../packages/testkit/test/share.ts";

const fixtures = shareOf(globSync("fixtures/*/*.db", { cwd: import.meta.dirname }).toSorted(), 3);

/** Files of earlier formats have another index. */
const INDEXED_FORMAT = 5;

/** As if a release with another index had indexed everything: the upgrade must not rely on it. */
function markAsIndexed(path: string): void {
  using db = new DatabaseSync(path);
  if ((db.prepare("PRAGMA user_version").get()!["user_version"] as number) >= INDEXED_FORMAT) return;
  db.exec("DELETE FROM dirty; INSERT INTO search (rowid, words) SELECT key, 'unicorn' FROM events LIMIT 5");
}

describe("a search in a journal of a release", { concurrency: 2, timeout: 600_000 }, () => {
  for (const fixture of fixtures) {
    test(`finds each text of ${fixture}, although its index was built by that release`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "cinch-fixture-"));
      const store = sqliteStore({ path: join(folder, "cinch.db") });
      try {
        copyFileSync(join(import.meta.dirname, fixture), join(folder, "cinch.db"));
        markAsIndexed(join(folder, "cinch.db"));
        await store.open();
        const threads = await Promise.all((await store.threads()).map(({ id }) => store.read(id)));
        const searched = threads.flat().filter((event) => wordsOf(eventText(event)).length > 0);
        assert.ok(searched.length > 0);
        const searches = searched.map(async (event) => {
          const { seq, threadId } = event;
          const query = wordsOf(eventText(event)).slice(-32).join(" ");
          const found = await store.findEvents({ threadId, query, limit: 1000 });
          assert.ok(
            found.some((one) => one.seq === seq),
            `${threadId} ${seq}: ${query}`,
          );
        });
        await Promise.all(searches);
        const { threadId } = searched[0]!;
        assert.deepEqual(await store.findEvents({ threadId, query: "unicorn" }), []);
      } finally {
        await store.close();
        rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
      }
    });
  }
});
