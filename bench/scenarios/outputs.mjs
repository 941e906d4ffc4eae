/** Appends of long results, and of short ones to another thread while those are indexed. */
import { setTimeout as pause } from "node:timers/promises";
import { folderSize } from "../lib/disk.mjs";
import { median } from "../lib/numbers.mjs";
import { prose } from "../lib/prose.mjs";

export default async function outputs({ n, resultBytes, folder, start, now }) {
  const host = await start();
  const empty = folderSize(folder);
  const long = await host.appender("long");
  const short = await host.appender("short");
  const times = { long: [], short: [] };
  const timed = async (list, task) => {
    const from = now();
    await task();
    list.push(now() - from);
  };
  for (let i = 0; i < n; i++) {
    const text = prose(i, resultBytes);
    await timed(times.long, () => long.result(text));
    await timed(times.short, () => short.result("done"));
  }
  await long.release();
  // The results are indexed in pauses between appends, so an append after a pause may have to wait.
  const during = [];
  for (let i = 0; i < 25; i++) {
    await pause(203 + (i % 10));
    await timed(during, () => short.result("done"));
  }
  await short.release();
  await host.indexed();
  await host.close();
  return {
    longMs: median(times.long),
    shortMs: median(times.short),
    duringMs: median(during),
    slowestMs: Math.max(...during),
    growth: (folderSize(folder) - empty) / (n * resultBytes),
  };
}
