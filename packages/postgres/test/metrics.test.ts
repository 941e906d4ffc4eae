import assert from "node:assert/strict";
import { test } from "node:test";
import { created, input } from "./events.ts";
import { Place } from "./place.ts";

test("the store counts its transactions, the appends in them, and its connections", async () => {
  await using place = await Place.make();
  const store = await place.store();
  const ids = Array.from({ length: 20 }, (_, at) => `t${at}`);
  await Promise.all(ids.map((id) => store.append(id, [created()], { afterSeq: 0 })));
  await Promise.all(ids.map((id) => store.append(id, [input("x")], { afterSeq: 1 })));
  const { batches = 0, batchedAppends, pool } = store.metrics!();
  assert.equal(batchedAppends, 40);
  assert.ok(batches >= 2 && batches < 40, `${batches} batches`);
  assert.ok(pool && pool.size >= 1 && pool.size <= 8 && pool.busy <= pool.size && pool.waiting === 0);
});
