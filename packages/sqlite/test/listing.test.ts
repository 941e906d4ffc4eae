import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ThreadQuery } from "@cinch/core";
import { LAST_CHANGE } from "../src/schema.ts";
import { PAGES } from "../src/listing.ts";
import { created, event } from "./events.ts";
import { Place } from "./place.ts";

describe("the list of threads", { concurrency: 4 }, () => {
  const ways: Record<keyof typeof PAGES, string[]> = {
    recent: ["SEARCH threads USING INDEX threads_recent (<expr>=? AND touched<?)"],
    ofResource: ["SEARCH threads USING INDEX threads_of_resource (resource=?)", "USE TEMP B-TREE FOR ORDER BY"],
    children: ["SEARCH threads USING INDEX threads_children (parent=?)", "USE TEMP B-TREE FOR ORDER BY"],
  };
  for (const [way, steps] of Object.entries(ways) as [keyof typeof PAGES, string[]][])
    test(`${way}: a page reads no more than its index finds`, async () => {
      await using place = new Place();
      await place.store();
      const plan = planOf(place, PAGES[way]).filter((step) => step.startsWith("S") || step.startsWith("USE"));
      assert.deepEqual(plan, steps);
    });

  test("the number of the next change is found without reading the threads", async () => {
    await using place = new Place();
    await place.store();
    const plan = planOf(place, `SELECT ${LAST_CHANGE}`).filter((step) => step.startsWith("SEARCH"));
    assert.equal(plan.length, 4);
    assert.deepEqual(
      plan.filter((step) => !/USING (COVERING )?INDEX threads_(recent|changed)/.test(step)),
      [],
    );
  });

  test("a resource with few threads and one with many are listed in the same way", async () => {
    await using place = new Place();
    const store = await place.store();
    const few = Array.from({ length: 99 }, (_, at) => `few-${at}`);
    const many = Array.from({ length: 101 }, (_, at) => `many-${at}`);
    for (const [at, id] of many.entries()) {
      for (const one of [id, ...few.slice(at, at + 1)]) {
        const resourceId = one.slice(0, one.indexOf("-"));
        await store.append(one, [created({ resourceId })], {
          afterSeq: 0,
          active: at % 10 === 0,
          awake: at % 20 === 0,
        });
      }
    }
    const agent = { owner: "few-3", toolCallId: "c", rootThreadId: "few-3", path: [], depth: 1 };
    await store.append("few-child", [created({ resourceId: "few", agent })], { afterSeq: 0 });
    const ids = async (query: ThreadQuery) => (await store.threads(query)).map(({ id }) => id);
    for (const [resourceId, all] of Object.entries({ few, many })) {
      const newest = all.toReversed();
      assert.deepEqual(await ids({ resourceId, topLevel: true }), newest);
      assert.deepEqual(await ids({ resourceId, topLevel: true, limit: 3, before: newest[6]! }), newest.slice(7, 10));
      assert.deepEqual(
        await ids({ resourceId, active: true }),
        newest.filter((id) => id.endsWith("0")),
      );
    }
  });

  test("the children of a thread are its subagents and its clones, the newest first", async () => {
    await using place = new Place();
    const store = await place.store();
    await store.append("t", [created()], { afterSeq: 0 });
    const parent = { threadId: "t", seq: 1 };
    const agent = { owner: "t", toolCallId: "c", rootThreadId: "t", path: [], depth: 1 };
    await store.append("clone", [event("thread_cloned", { title: "c", parent, rules: [], state: {} })], {
      afterSeq: 1,
    });
    await store.append("subagent", [created({ agent })], { afterSeq: 0 });
    const children = async () => (await store.threads({ parentId: "t" })).map(({ id }) => id);
    assert.deepEqual(await children(), ["subagent", "clone"]);
    await store.deleteThread("clone");
    assert.deepEqual(await children(), ["subagent"]);
  });
});

const planOf = (place: Place, text: string): string[] =>
  place.query((db) =>
    db
      .prepare(`EXPLAIN QUERY PLAN ${text}`)
      .all()
      .map(({ detail }) => String(detail)),
  );
