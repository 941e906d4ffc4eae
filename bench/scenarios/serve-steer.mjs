/** How much longer a command takes over HTTP, from another process, than in this one. By turns, on one running turn. */
import { median } from "../lib/numbers.mjs";
import { clients } from "../lib/serving/clients.mjs";
import { cpuMicros, served, textModel } from "../lib/serving/served.mjs";

const ROUNDS = 20;
const EACH = 20;

export default async function serveSteer({ folder }) {
  const host = await served({ folder, model: textModel(() => forever()) });
  const session = await host.harness.createSession();
  const { id } = await session.createThread();
  await session.post({ content: "go", delivery: "send" });
  const steering = clients();
  const path = `/v1/threads/${id}/steer`;
  const posts = () => steering.ask("posts", { port: host.port, path, times: EACH, body: { content: "left" } });
  await posts();
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
  steering.close();
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
