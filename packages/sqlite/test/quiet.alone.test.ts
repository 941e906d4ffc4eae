/** Most of what an idle process costs is to wake up. */
import assert from "node:assert/strict";
import { createHook } from "node:async_hooks";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { created } from "./events.ts";
import { Place } from "./place.ts";
import { until } from "./until.ts";

const SECONDS = 2;

test("a followed thread that does not change wakes its process a few times a second, and its next change is noticed", async () => {
  const timers = new Set<number>();
  let woken = 0;
  const hook = createHook({
    init: (id, type) => type === "Timeout" && timers.add(id),
    before: (id) => timers.has(id) && woken++,
  }).enable();
  await using place = new Place();
  const store = await place.store();
  const other = await place.child();
  let notified = 0;
  store.follow("t", () => notified++);
  // Until what opening has written counts as old.
  await sleep(2_000);
  woken = 0;
  await sleep(SECONDS * 1_000);
  hook.disable();
  assert.ok(woken > 0 && woken < SECONDS * 20, `${woken} timers in ${SECONDS} s`);
  await other.call("append", "t", [created()], { afterSeq: 0 });
  await until(() => notified > 0, "a notification");
});
