import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore } from "@cinch/core";
import { say, script } from "@cinch/testkit";
import * as z from "zod";
import { ROLES, type ServerOptions } from "@cinch/server";
import { Seats } from "../src/seats.ts";

const harnessOf = () => {
  const agent = new Agent({ name: "tester", model: script(say("hi")), instructions: "Test." });
  const stateSchema = z.object({ color: z.string() });
  return new Harness({ id: "test", agent, storage: memoryStore(), stateSchema, initialState: { color: "red" } });
};

test("a caller is at a thread only when it is known to have access", async () => {
  const harness: ServerOptions["harness"] = harnessOf();
  const seats = new Seats({ harness, idleMs: 60_000, changed: () => undefined });
  const [ann, cat] = [
    { resourceId: "team", by: "ann", may: ROLES },
    { resourceId: "cats", by: "cat", may: ROLES },
  ];
  const { id } = await seats.visit(ann, (session) => session.createThread());
  const taken = await seats.take(id, ann);
  const refused = assert.rejects(seats.take(id, cat), { code: "THREAD_NOT_FOUND" });
  assert.deepEqual(seats.people(id), ["ann"]);
  await refused;
  assert.deepEqual(seats.people(id), ["ann"]);
  taken.leave();
  await seats.close();
  assert.deepEqual(seats.people(id), []);
  await harness.close();
});

test("one caller shares one session at a thread, and another caller has its own", async () => {
  const harness: ServerOptions["harness"] = harnessOf();
  const seats = new Seats({ harness, idleMs: 60_000, changed: () => undefined });
  const [ann, bob] = [
    { resourceId: "team", by: "ann", may: ROLES },
    { resourceId: "team", by: "bob", may: ROLES },
  ];
  const { id } = await seats.visit(ann, (session) => session.createThread());
  const [first, second, other] = await Promise.all([seats.take(id, ann), seats.take(id, ann), seats.take(id, bob)]);
  assert.equal(first.session, second.session);
  assert.notEqual(first.session, other.session);
  assert.deepEqual([first.session.by, other.session.by], ["ann", "bob"]);
  await seats.close();
  await harness.close();
});
