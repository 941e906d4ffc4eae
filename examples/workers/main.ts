/**
 * Three workers on one database: one of them is killed in the middle of a turn, and the turn goes on in another.
 *
 * Needs no server: Postgres comes from npm, and Restate too, if its package is installed.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { textOf } from "@cinch/core";
import { teamHarness } from "./harness.ts";
import { startServers } from "./servers.ts";

const WORKER = new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url);
const { stop, ...servers } = await startServers();
console.log(`Postgres is up; wakes go through ${servers.restate ? "Restate" : "graphile-worker"}`);
const workers = new Map<string, ChildProcess>();
try {
  for (const name of ["worker 1", "worker 2", "worker 3"]) {
    const worker = fork(WORKER, [JSON.stringify(servers)], { env: { ...process.env, WORKER: name } });
    workers.set(name, worker);
    await Promise.race([once(worker, "message"), failed(worker)]);
  }
  console.log(`${workers.size} workers are up`);
  await weighParcels();
} finally {
  await Promise.all([...workers.values()].map((worker) => end(worker)));
  await stop();
}

/** This process is a front: it sends messages and watches, and never drives. */
async function weighParcels(): Promise<void> {
  const front = teamHarness(servers);
  await front.init();
  await front.createThread({ title: "Parcels" });
  let weighed = 0;
  front.subscribe((event) => {
    if (event.type !== "tool_end") return;
    const text = textOf(event.result.content);
    console.log(`  ${text}`);
    if (++weighed === 2) kill(/worker \d/.exec(text)![0]);
  });
  const { reason, message } = await front.sendMessage({ content: "Weigh all parcels." });
  console.log(`${textOf(message?.content ?? [])} (${reason})`);
  await front.close();
}

function kill(name: string): void {
  workers.get(name)!.kill("SIGKILL");
  console.log(`(${name} is killed)`);
}

async function failed(worker: ChildProcess): Promise<never> {
  await once(worker, "exit");
  throw new Error("A worker could not start.");
}

async function end(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return;
  worker.kill("SIGTERM");
  await once(worker, "exit");
}
