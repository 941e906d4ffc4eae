/** What threads that wait for a person cost a worker and the server, with a look for stranded threads every 500 ms. */
import { setTimeout as pause } from "node:timers/promises";
import { median } from "../lib/numbers.mjs";
import { cpuOf, created, event, postgresIn, storeAt } from "../lib/postgres/server.mjs";

export default async function postgresWaiting({ threads, seconds, folder, now }) {
  const { url, pid } = await postgresIn(folder);
  const store = await storeAt(url);
  const looking = setInterval(
    () => store.stranded({ limit: 100, freeMs: 1_000, maxPerResource: 20 }).catch(() => {}),
    500,
  );
  const none = await cpuOfSeconds(seconds, pid);
  const waits = async (no) => {
    const id = `t${no}`;
    await store.append(id, [created(`r${no % 100}`)], { afterSeq: 0 });
    const asks = [event("agent_start"), event("tool_approval_required")];
    await store.append(id, asks, { afterSeq: 1, take: 0, release: true, active: true, awake: false, dueAt: null });
  };
  for (let no = 0; no < threads; no += 100) await Promise.all(Array.from({ length: 100 }, (_, at) => waits(no + at)));
  // Until the server has written and analysed what is new.
  await pause(20_000);
  const waiting = await cpuOfSeconds(seconds, pid);
  const times = [];
  for (let n = 0; n < 100; n++) {
    const from = now();
    await store.stranded({ limit: 100, freeMs: 1_000, maxPerResource: 20 });
    times.push(now() - from);
  }
  clearInterval(looking);
  await store.close();
  return {
    processMs: median(waiting.process) - median(none.process),
    serverMs: median(waiting.server) - median(none.server),
    strandedMs: median(times),
  };
}

/** The CPU time of each of these seconds, in milliseconds. */
async function cpuOfSeconds(seconds, pid) {
  await pause(2_000);
  const used = { process: [], server: [] };
  for (let n = 0; n < seconds; n++) {
    const own = process.cpuUsage();
    const server = cpuOf(pid);
    await pause(1_000);
    const { user, system } = process.cpuUsage(own);
    used.process.push((user + system) / 1_000);
    used.server.push(cpuOf(pid) - server);
  }
  return used;
}
