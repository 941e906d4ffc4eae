import assert from "node:assert/strict";
import { test } from "node:test";
import { code, created, input, Place } from "./support.ts";

test("a thread that is deleted between two looks of one read is not found, and not taken for damaged", async (t) => {
  await using place = new Place();
  const store = await place.store();
  await store.append("t", [created(), ...Array.from({ length: 999 }, () => input("x"))], { afterSeq: 0 });
  let looks = 0;
  // A read asks for the time between two looks.
  t.mock.method(performance, "now", () => {
    if (++looks === 2)
      place.look((db) => db.exec("UPDATE threads SET deleted = 1; DELETE FROM segments; DELETE FROM events"));
    return 0;
  });
  await assert.rejects(store.read("t"), code("THREAD_NOT_FOUND"));
  assert.ok(looks >= 2);
});
