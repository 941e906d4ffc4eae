import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { migrate, schemaVersionOf } from "../src/schema.ts";
import { bundle } from "../../testkit/test/bundle.ts";
import { Place } from "./place.ts";

const PROCESSES = 6;
/** How many new stores they open together. `ROUNDS=100` finds a race that fails once in 150 openings. */
const ROUNDS = Number(process.env["ROUNDS"] ?? 5);

describe("the creation of a store", { timeout: 300_000 + ROUNDS * 5_000 }, () => {
  test("six processes open a new store at once", async () => {
    await using place = new Place();
    const program = await bundle(new URL("./programs/opener.ts", import.meta.url));
    const openers = Array.from({ length: PROCESSES }, () => fork(program, { execArgv: [] }));
    try {
      await Promise.all(openers.map((opener) => once(opener, "spawn")));
      for (let round = 0; round < ROUNDS; round++) {
        const path = join(place.folder, String(round), "cinch.db");
        const answers = openers.map(async (opener) => {
          const [answer] = await Promise.race([once(opener, "message"), once(opener, "exit")]);
          return answer as unknown;
        });
        for (const opener of openers) opener.send(path);
        assert.deepEqual(await Promise.all(answers), Array(PROCESSES).fill("opened"), `round ${round}`);
      }
    } finally {
      for (const opener of openers) opener.kill();
    }
  });

  for (const nth of [1, 2, 3, 4, 5]) {
    test(`a store that another process creates before query ${nth} of an opening is recognised as ours`, async () => {
      await using place = new Place();
      using maker = new DatabaseSync(place.path);
      maker.exec("PRAGMA journal_mode = WAL");
      using opener = new DatabaseSync(place.path);
      let queries = 0;
      const between = new Proxy(opener, {
        get(db, key) {
          if (key === "prepare" && ++queries === nth) migrate(maker, place.path);
          const value = db[key as keyof DatabaseSync] as unknown;
          return typeof value === "function" ? (value.bind(db) as unknown) : value;
        },
      });
      assert.ok(schemaVersionOf(between, place.path) >= 0);
      migrate(opener, place.path);
    });
  }
});
