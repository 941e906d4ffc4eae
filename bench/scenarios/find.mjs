/** Finds events of the thread that `written` wrote, in a process that has just opened the store. */
import { median } from "../lib/numbers.mjs";
import { prose } from "../lib/prose.mjs";

/** Fewer than the index may lag behind a running turn. */
const UNINDEXED = 390;

export default async function find({ start, now, times = 9 }) {
  const host = await start();
  await host.indexed();
  const measured = async (query, expected) => {
    const taken = [];
    for (let i = 0; i < times; i++) {
      const from = now();
      const found = await host.find(query);
      taken.push(now() - from);
      if (found.length !== expected) throw new Error(`${query.query}: ${found.length} events, not ${expected}`);
    }
    return median(taken);
  };
  const threadId = "s1";
  const resourceId = "s1";
  const result = {
    numberMs: await measured({ threadId, query: "417 const" }, 20),
    commonMs: await measured({ threadId, query: "const" }, 20),
    letterMs: await measured({ threadId, query: "c" }, 20),
    wordsMs: await measured({ threadId, query: "const src ts" }, 20),
    noneMs: await measured({ threadId, query: "unicorn" }, 0),
    resourceMs: await measured({ resourceId, query: "const" }, 20),
  };
  const driven = await host.appender("driven");
  for (let i = 0; i < UNINDEXED; i++) await driven.result(prose(i, 2048));
  await driven.result("needle");
  const from = now();
  const newest = await host.find({ threadId: "driven", query: "needle" });
  result.newestMs = now() - from;
  if (newest.length !== 1) throw new Error("the newest event is not found");
  await driven.release();
  await host.close();
  return result;
}
