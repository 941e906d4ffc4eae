/** One answer with one watcher in another process: CPU time and bytes of a delta of 5 characters, from the model to the socket. */
import { setTimeout as pause } from "node:timers/promises";
import { clients } from "../lib/serving/clients.mjs";
import { cpuMicros } from "../lib/serving/served.mjs";

/** As many deltas arrive in one packet from a provider. */
const PACKET = 10;

export default async function serveDeltas({ n, perSecond, serve }) {
  const { port, path, send, close } = await serve(() => (perSecond ? paced(n, perSecond) : packets(n)));
  await send();
  await send();

  const alone = await cpuOf(send);
  const watching = clients();
  await watching.ask("watch", { port, paths: [path] });
  await send();
  await pause(200);
  await watching.ask("count");
  const watched = await cpuOf(send);
  await pause(200);
  const { bytes, wireBytes, frames } = await watching.ask("counted");
  watching.close();
  await close();
  return {
    cpuUsPerDelta: watched / n,
    servingUsPerDelta: (watched - alone) / n,
    bytesPerDelta: bytes / n,
    wireBytesPerDelta: wireBytes / n,
    framesPerDelta: frames / n,
  };
}

async function cpuOf(work) {
  const from = cpuMicros();
  await work();
  return cpuMicros() - from;
}

async function* packets(n) {
  for (let at = 0; at < n; at++) {
    if (at % PACKET === PACKET - 1) await new Promise(setImmediate);
    yield "abcd ";
  }
}

async function* paced(n, perSecond) {
  const from = performance.now();
  for (let at = 0; at < n; at++) {
    const early = from + (at * 1_000) / perSecond - performance.now();
    if (early > 0) await pause(early);
    yield "abcd ";
  }
}
