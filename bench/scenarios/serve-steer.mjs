/** How much longer a command takes over HTTP, from another process, than in this one. By turns, on one running turn. */
import { median } from "../lib/numbers.mjs";
import { clients } from "../lib/serving/clients.mjs";
import { cpuMicros, served, textModel } from "../lib/serving/served.mjs";

const ROUNDS = 20;
const EACH = 20;

export default async function serveSteer({ folder }) {
  const host = await served({ folder, model: textModel(() => forever()) });
  const steering = clients();
  // A server runs for long. Its first thousand requests take several times the CPU of later ones.
  for (let n = 0; n < 3; n++) await steered(host, steering);
  const measured = await steered(host, steering);
  steering.close();
  return measured;
}

/** A thread of its own: a thread keeps at most a thousand inputs queued. */
async function steered({ harness, port }, steering) {
  const session = await harness.createSession();
  const { id } = await session.createThread();
  await session.post({ content: "go", delivery: "send" });
  const path = `/v1/threads/${id}/steer`;
  const posts = () => steering.ask("posts", { port, path, times: EACH, body: { content: "left" } });
  const inProcess = [];
  const remote = [];
  let moreCpu = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const from = cpuMicros();
    for (let n = 0; n < EACH; n++) inProcess.push(await timed(() => session.steer({ content: "left" })));
    const between = cpuMicros();
    remote.push((await posts()).p50Ms);
    moreCpu += cpuMicros() - between - (between - from);
  }
  const [inProcessMs, remoteMs] = [median(inProcess), median(remote)];
  return { inProcessMs, remoteMs, moreMs: remoteMs - inProcessMs, moreCpuMs: moreCpu / 1_000 / ROUNDS / EACH };
}

async function timed(work) {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

async function* forever() {
  yield "I am working";
  await new Promise(() => undefined);
}
