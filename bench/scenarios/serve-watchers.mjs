/** Many watchers of one thread, in another process: how old a delta is when each of them has it, and whether all get everything. */
import { setTimeout as pause } from "node:timers/promises";
import { clients } from "../lib/serving/clients.mjs";
import { cpuMicros, served, textModel } from "../lib/serving/served.mjs";

const LAST = "the last delta";

export default async function serveWatchers({ watchers, perSecond, seconds, folder }) {
  const host = await served({ folder, model: textModel(() => timed(perSecond, seconds)) });
  const { id } = await host.harness.createThread();
  const watching = clients();
  const path = `/v1/threads/${id}/events`;
  await watching.ask("watch", { port: host.port, paths: Array.from({ length: watchers }, () => path) });
  await watching.ask("count");
  const from = cpuMicros();
  await host.harness.sendMessage({ content: "go" });
  await watching.ask("received", { text: LAST });
  const cpu = cpuMicros() - from;
  const { p50Ms, p99Ms, maxMs, latencies, resyncs, ended } = await watching.ask("counted");
  watching.close();
  await host.close();
  if (latencies !== watchers * perSecond * seconds) throw new Error(`${latencies} deltas were received`);
  return { p50Ms, p99Ms, maxMs, behind: resyncs + ended, cpuMsPerSecond: cpu / 1_000 / seconds };
}

async function* timed(perSecond, seconds) {
  for (let at = 0; at < perSecond * seconds; at++) {
    await pause(1_000 / perSecond);
    yield `@${Date.now()} `;
  }
  yield LAST;
}
