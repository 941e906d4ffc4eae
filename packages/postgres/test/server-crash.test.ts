import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { postgresStore } from "@cinch/postgres";
import { created, event, input } from "./events.ts";
import { MortalPostgres } from "./mortal-postgres.ts";
import { until } from "./until.ts";

const contents = (events: readonly object[]) => events.flatMap((one) => ("content" in one ? [one.content] : []));

test("a server that is killed and started again has every append that was answered, each once", async () => {
  await using server = new MortalPostgres();
  await server.start();
  const { url } = server;
  const [store, other] = [postgresStore({ url }), postgresStore({ url })];
  try {
    await Promise.all([store.open(), other.open()]);
    await store.append("driven", [created(), event("agent_start")], { afterSeq: 0, take: 0 });
    let isOver = false;
    let notified = 0;
    other.follow("t0", (seq = 0) => (notified = Math.max(notified, seq)));
    const writers = Array.from({ length: 8 }, async (_, no) => {
      await store.append(`t${no}`, [created()], { afterSeq: 0 });
      for (let seq = 1; ; seq++) {
        const result = await store.append(`t${no}`, [input(`${seq}`)], { afterSeq: seq });
        assert.deepEqual(result, { kind: "appended", seq: seq + 1, epoch: 0, driven: false });
        if (isOver) return seq;
        await pause(5);
      }
    });
    const statuses = new Set<string>();
    for (let time = 0; time < 2; time++) {
      await pause(300);
      await server.kill();
      await pause(300);
      await server.start();
      for (const end = Date.now() + 4_000; Date.now() < end; await pause(100))
        statuses.add((await other.lease("driven")).status);
    }
    isOver = true;
    for (const [no, count] of (await Promise.all(writers)).entries())
      assert.deepEqual(
        contents(await other.read(`t${no}`)),
        Array.from({ length: count }, (_, at) => `${at + 1}`),
      );
    const { length } = await other.read("t0");
    await until("the notice of the last append", () => notified === length);
    assert.deepEqual([...statuses], ["held"], "no process takes over from a living driver");
  } finally {
    await Promise.all([store.close(), other.close()]);
  }
});
