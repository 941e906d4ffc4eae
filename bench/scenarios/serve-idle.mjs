/** Many silent streams, each of a thread of its own: what each of them holds, and what they cost in silence. */
import { setTimeout as pause } from "node:timers/promises";
import { collectGarbage } from "../lib/garbage.mjs";
import { median } from "../lib/numbers.mjs";
import { clients } from "../lib/serving/clients.mjs";
import { cpuMicros, served, textModel } from "../lib/serving/served.mjs";

export default async function serveIdle({ streams, seconds, folder }) {
  const host = await served({ folder, model: textModel(() => ["Hello"]) });
  const watching = clients();
  const warm = await threadsOf(host, 50);
  await watching.ask("watch", { port: host.port, paths: warm });
  const threads = await threadsOf(host, streams);
  const silence = await cpuOfSeconds(seconds);
  const before = memory();
  await watching.ask("watch", { port: host.port, paths: threads });
  const after = memory();
  const used = await cpuOfSeconds(seconds);
  const { ended } = await watching.ask("counted");
  watching.close();
  return {
    kbEach: (after.rss - before.rss) / 1_000 / streams,
    heapKbEach: (after.used - before.used) / 1_000 / streams,
    cpuMsPerSecond: median(used) - median(silence),
    // All streams get theirs at once: the second in which they do costs most.
    heartbeatUs: ((Math.max(...used) - median(used)) * 1_000) / streams,
    ended,
  };
}

async function threadsOf({ harness }, count) {
  const session = await harness.createSession();
  const paths = [];
  for (let n = 0; n < count; n++) {
    const { id } = await session.createThread();
    await session.sendMessage({ content: "Hello" });
    paths.push(`/v1/threads/${id}/events`);
  }
  await session.close();
  return paths;
}

/** The CPU time of each of these seconds, in milliseconds. */
async function cpuOfSeconds(seconds) {
  await pause(2_000);
  const used = [];
  for (let n = 0; n < seconds; n++) {
    const from = cpuMicros();
    await pause(1_000);
    used.push((cpuMicros() - from) / 1_000);
  }
  return used;
}

function memory() {
  collectGarbage();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, used: heapUsed + external };
}
