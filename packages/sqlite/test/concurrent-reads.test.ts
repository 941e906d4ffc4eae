import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { StampedEvent } from "@cinch/core/store";
import { Observer } from "../src/observer.ts";
import { serializeEvent } from "../src/serialized-event.ts";
import { Writer } from "../src/writer.ts";
import { created, event, input, says } from "./events.ts";
import { Place } from "./place.ts";

/** Stands for another process. Its appends are synchronous. */
function otherProcess(path: string) {
  const db = new DatabaseSync(path);
  const options = { path, holder: "other", busyMs: 1000, renewMs: 1000, periodMs: 5000, indexMs: 1000 };
  const writer = new Writer(db, options, new Observer(db, options));
  const append = (threadId: string, events: StampedEvent[], afterSeq: number) => {
    const lease = { take: 1, epoch: undefined, release: true, driver: true };
    const work = {
      kind: "append" as const,
      threadId,
      events: events.map(serializeEvent),
      afterSeq,
      blobs: [],
      ...lease,
    };
    return writer.commit([{ id: 1, work }])[0]!.outcome;
  };
  return { append, [Symbol.dispose]: () => db.close() };
}

for (const last of [false, true])
  test(`a read of the ${last ? "last" : "first"} events during a rewind returns the thread as it is after the rewind`, async () => {
    await using place = new Place();
    const store = await place.store();
    const texts = ["one", "two", "three"].map(says);
    await store.append("t", [created(), ...texts], { afterSeq: 0, take: 0, release: true });
    using other = otherProcess(place.path);
    // The first query runs synchronously in this call.
    const reading = store.read("t", { limit: 100, last });
    const rewound = event("thread_rewound", { toSeq: 2, files: false, rules: [], grants: [], usage: {} });
    assert.equal(other.append("t", [rewound], 4).kind, "appended");
    assert.deepEqual(
      (await reading).map(({ seq }) => seq),
      [1, 2, 5],
    );
  });

test("a read of a thread that another process deletes is THREAD_NOT_FOUND, never CORRUPT", async () => {
  await using place = new Place();
  const store = await place.store();
  const other = await place.child();
  const names = Array.from({ length: 80 }, (_, at) => `t${at}`);
  for (const name of names) {
    await store.append(name, [created()], { afterSeq: 0 });
    const deleted = other.call("deleteThread", name);
    await assert.rejects(
      async () => {
        for (;;) await store.read(name);
      },
      { code: "THREAD_NOT_FOUND" },
    );
    await deleted;
  }
});

test("a read of a thread that is deleted between two of its queries is THREAD_NOT_FOUND, not CORRUPT", async (t) => {
  await using place = new Place();
  const store = await place.store();
  await store.append("t", [created(), ...Array.from({ length: 999 }, () => input("x"))], { afterSeq: 0 });
  let calls = 0;
  // A read checks the time between two queries.
  t.mock.method(performance, "now", () => {
    if (++calls === 2)
      place.query((db) => db.exec("UPDATE threads SET deleted = 1; DELETE FROM segments; DELETE FROM events"));
    return 0;
  });
  await assert.rejects(store.read("t"), { code: "THREAD_NOT_FOUND" });
  assert.ok(calls >= 2);
});
