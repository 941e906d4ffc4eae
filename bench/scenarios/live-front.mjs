/**
 * Two workers stream, a front watches all of their threads, on one Postgres: how old a delta is when a subscriber of the front has it, and
 * what the front asks of the database meanwhile. `linked: false` measures drafts.
 */
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { peer } from "../lib/live/peers.mjs";
import { startServer } from "../../packages/postgres/test/server.ts";

const WORKERS = 2;

export default async function liveFront({ threads, perSecond, seconds, linked = true, folder }) {
  // The server runs as another user.
  chmodSync(folder, 0o755);
  const server = await startServer(join(folder, "data"));
  const peers = Array.from({ length: WORKERS + 1 }, peer);
  const [front, ...workers] = peers;
  const database = new Client(server.url);
  await database.connect();
  try {
    const common = { url: server.url, secret: "a-secret-of-the-bench", linked, pace: { perSecond, seconds } };
    for (const worker of workers) await worker.ask("open", { ...common, drives: true });
    await front.ask("open", { ...common, drives: false });
    const each = { threads: threads / WORKERS };
    const ids = (await Promise.all(workers.map((worker) => worker.ask("create", each)))).flat();
    await front.ask("watch", { threads: ids });
    const before = await queriesOf(database);
    const cpu = await front.ask("cpu");
    await Promise.all(workers.map((worker) => worker.ask("stream")));
    await pause(500);
    const { count, ...times } = await front.ask("counted");
    const used = (await front.ask("cpu")) - cpu;
    const transactions = (await queriesOf(database)) - before;
    const sent = threads * perSecond * seconds;
    return { ...times, sent, count, transactionsPerDelta: transactions / sent, cpuUsPerDelta: used / sent };
  } finally {
    await Promise.all(peers.map((one) => one.ask("close").catch(() => undefined)));
    for (const one of peers) one.close();
    await database.end();
    process.kill(server.pid, "SIGQUIT");
    await pause(500);
  }
}

/** Every statement of ours is a transaction. */
async function queriesOf(database) {
  await pause(1_200);
  const { rows } = await database.query(
    "SELECT xact_commit::int AS n FROM pg_stat_database WHERE datname = 'postgres'",
  );
  return rows[0].n;
}
