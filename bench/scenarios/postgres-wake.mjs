/**
 * From `post` at a front until the first append of a worker in another process is on disk, by turns with appends of one thread on the same
 * server. The command's own append and the opening of the thread are in it.
 */
import { setTimeout as pause } from "node:timers/promises";
import { performance } from "node:perf_hooks";
import { built } from "../lib/built.mjs";
import { median } from "../lib/numbers.mjs";
import { created, event, postgresIn, says, storeAt } from "../lib/postgres/server.mjs";
import { placementOf, restateEngine, wakeWorker } from "../lib/postgres/wakes.mjs";
import { textModel } from "../lib/serving/served.mjs";

/** Not counted: the code is not compiled yet. */
const WARM = 40;

export default async function postgresWake({ engine: name, wakes, folder, now }) {
  const { url } = await postgresIn(folder);
  const engine = name === "restate" ? await restateEngine() : name;
  const worker = wakeWorker();
  await worker.ask("open", { url, engine });
  const [{ Agent, Harness }, { postgresStore }] = await Promise.all([built("core"), built("postgres")]);
  const agent = new Agent({ name: "bench", instructions: "x", model: textModel(async function* () {}) });
  const front = new Harness({
    id: "bench",
    agent,
    storage: postgresStore({ url }),
    placement: await placementOf(engine),
  });
  await front.init();
  const store = await storeAt(url);
  await store.append("one", [created()], { afterSeq: 0 });
  await store.append("one", [event("agent_start")], { afterSeq: 1, take: 0, awake: true });
  let seq = 2;
  const text = "x".repeat(400);
  const appends = [];
  const posts = [];
  const begun = [];
  for (let nth = 0; nth < wakes + WARM; nth++) {
    const { id } = await front.createThread();
    const from = now();
    await store.append("one", [says(text)], { afterSeq: seq++, epoch: 1, awake: true, active: true, dueAt: null });
    appends.push(now() - from);
    begun.push([id, performance.timeOrigin + performance.now()]);
    await front.post({ content: "go", delivery: "send" });
    posts.push(performance.timeOrigin + performance.now() - begun.at(-1)[1]);
    await front.settled();
    await pause(5);
  }
  const firsts = new Map(await worker.ask("firsts"));
  const times = begun.map(([id, at]) => firsts.get(id) - at).slice(WARM);
  const sorted = times.toSorted((a, b) => a - b);
  await front.close();
  await worker.ask("close");
  worker.close();
  await store.close();
  const [wakeMs, appendMs] = [median(times), median(appends.slice(WARM))];
  return {
    wakeMs,
    appendMs,
    times: wakeMs / appendMs,
    postMs: median(posts.slice(WARM)),
    p99Ms: sorted[Math.floor(0.99 * sorted.length)],
  };
}
