import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { FUNCTIONS, migrations } from "../src/schema.ts";
import { restore, rowsOf } from "./dump.ts";
import { created, event, input } from "./events.ts";
import { Place } from "./place.ts";
import { until } from "./until.ts";

/** Databases as releases wrote them. Each must open in every later release. */
const dumps = globSync("fixtures/format-*.sql", { cwd: import.meta.dirname }).toSorted();

test("there is a dump of each format", () => {
  assert.deepEqual(
    dumps,
    migrations.map((_, at) => join("fixtures", `format-${at + 1}.sql`)),
  );
});

test("the newest dump has the functions that are there", () => {
  const newest = readFileSync(join(import.meta.dirname, dumps.at(-1)!), "utf8");
  assert.ok(newest.includes(FUNCTIONS), "A function was changed. That is a new format: add a migration, and its dump.");
});

describe("a database that a release wrote", { concurrency: 4 }, () => {
  for (const [at, dump] of dumps.entries()) {
    const sql = readFileSync(join(import.meta.dirname, dump), "utf8");

    test(`${dump} was written with the migrations that are there`, () => {
      const written = migrations.slice(0, at + 1).join("\n");
      assert.ok(
        sql.startsWith(written),
        "A released migration is never edited. Add one, or write the dump of a new format again.",
      );
    });

    test(`${dump} opens with everything in it, and goes on`, async () => {
      await using place = await Place.make();
      await restore(place, sql);
      const store = await place.store();
      const threads = (await store.threads()).map(({ id, title, active }) => ({ id, title, active }));
      assert.deepEqual(
        threads.toSorted((a, b) => a.id.localeCompare(b.id)),
        [
          { id: "clone", title: "clone", active: true },
          { id: "driven", title: "A thread", active: true },
          { id: "later", title: "A thread", active: false },
          { id: "talk", title: "Żółw \u0000 'quoted'", active: false },
        ],
      );
      const types = async (id: string) => (await store.read(id)).map(({ type, seq }) => `${seq} ${type}`);
      assert.deepEqual(await types("talk"), ["1 thread_created", "2 input_accepted", "6 thread_rewound"]);
      const inherited = ["1 thread_created", "2 input_accepted", "3 agent_start"];
      assert.deepEqual(await types("clone"), [...inherited, "4 thread_cloned", "5 input_accepted"]);
      assert.equal(new TextDecoder().decode(await store.blob("hash")), "a picture");
      assert.equal(await store.findInput("talk", "i"), 2);
      assert.deepEqual(await store.findEvents({ resourceId: "me", query: "zebra" }), []);
      assert.deepEqual(
        (await store.draft("driven")).map(({ text }) => text),
        ["half a sen"],
      );
      await assert.rejects(store.append("gone", [created()], { afterSeq: 0 }), { code: "THREAD_NOT_FOUND" });
      await until("the death of the driver", async () => (await store.lease("driven")).status === "dead");
      const stranded = (await store.stranded({ limit: 10, freeMs: 0 })).map(({ threadId }) => threadId);
      assert.deepEqual(stranded.toSorted(), ["clone", "driven", "later"]);
      assert.equal((await store.append("driven", [event("agent_start")], { afterSeq: 2, take: 1 })).kind, "appended");
      await store.append("new", [created(), input("hello")], { afterSeq: 0 });
      assert.equal((await store.threads())[0]?.id, "new");
    });

    test(`${dump} is the same after a backup and a restore`, async () => {
      await using place = await Place.make();
      await restore(place, sql);
      assert.equal(await rowsOf(place), sql.slice(sql.indexOf("INSERT INTO cinch.meta")));
    });
  }
});
