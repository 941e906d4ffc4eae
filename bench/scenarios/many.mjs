/** Many threads of one process at once: total time, the longest block of the event loop, memory. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { collectGarbage } from "../lib/garbage.mjs";

const RESOLUTION_MS = 5;

export default async function many({ threads, n, start, now }) {
  const host = await start();
  await host.open("warm");
  await host.sendMessage("warm", "DELTAS 50");
  collectGarbage();
  await pause(50);
  const before = process.memoryUsage();

  const ids = Array.from({ length: threads }, (_, at) => `c${at}`);
  const opening = now();
  for (const id of ids) await host.open(id);
  const openMs = now() - opening;
  let events = 0;
  for (const id of ids) host.subscribe(id, () => void events++);

  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const lag = watchLag(now);
  delay.enable();
  const from = now();
  const answers = await Promise.all(ids.map((id) => host.sendMessage(id, `DELTAS ${n}`)));
  const ms = now() - from;
  await pause(20);
  delay.disable();
  const maxLagMs = Math.max(lag.stop(), delay.max / 1e6);
  if (answers.some(({ text }) => text.length !== 4 * n)) throw new Error("a text is not what the model said");
  collectGarbage();
  const after = process.memoryUsage();
  return {
    openMs,
    streamMs: ms,
    totalMs: openMs + ms,
    usPerDelta: (ms * 1000) / (threads * n),
    maxLagMs,
    p99LagMs: delay.percentile(99) / 1e6,
    kbPerThread: (after.rss - before.rss) / 1024 / threads,
    /** Without the free memory that V8 keeps: only what the threads themselves hold. */
    heapKbPerThread: (after.heapUsed - before.heapUsed) / 1024 / threads,
    peakRssMB: process.resourceUsage().maxRSS / 1024,
  };
}

/** `monitorEventLoopDelay` can miss a stall at the end of the measurement; this timer does not. */
function watchLag(now) {
  let longest = 0;
  let last = now();
  const sample = () => {
    const at = now();
    longest = Math.max(longest, at - last - RESOLUTION_MS);
    last = at;
  };
  const timer = setInterval(sample, RESOLUTION_MS);
  return {
    stop() {
      clearInterval(timer);
      sample();
      return longest;
    },
  };
}
