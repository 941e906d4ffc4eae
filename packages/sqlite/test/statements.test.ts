import assert from "node:assert/strict";
import { constants } from "node:sqlite";
import { test } from "node:test";
import { Connection } from "../src/connection.ts";
import { ListChanges } from "../src/list-changes.ts";
import { Listing } from "../src/listing.ts";
import { Reader } from "../src/reader.ts";
import { created, input } from "./events.ts";
import { Place } from "./place.ts";

test("a statement that reads is planned once, however often it runs", async () => {
  await using place = new Place();
  const store = await place.store();
  await store.append("t", [created(), input("hello")], { afterSeq: 0 });
  using connection = Object.assign(new Connection(place.path, { busyMs: 1_000 }), {
    [Symbol.dispose]: () => connection.close(),
  });
  const listing = new Listing(connection);
  const reader = new Reader(connection);
  const changes = new ListChanges(connection);
  changes.follow("me", () => undefined);
  const readAll = async () => {
    for (const query of [{}, { active: true }, { resourceId: "me" }, { parentId: "t" }])
      await listing.threads({ ...query, limit: 1 });
    await listing.thread("t");
    for (const last of [false, true]) await reader.events("t", { last, limit: 1 });
    await reader.fold("t");
    await reader.draft("t");
    await reader.input("t", "i");
    reader.lease("t");
    reader.changeMarker("t", "me");
    changes.poll();
  };

  // SQLite asks when it plans a statement, and never when it runs one.
  let asked = 0;
  connection.db.setAuthorizer(() => {
    asked++;
    return constants.SQLITE_OK;
  });
  await readAll();
  assert.ok(asked > 0);
  asked = 0;
  await readAll();
  assert.equal(asked, 0);
});
