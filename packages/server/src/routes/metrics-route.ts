import { EXPOSITION_TYPE, exposition } from "../observe/exposition.ts";
import { gauge } from "../observe/metrics.ts";
import type { Route, ServerParts } from "./route.ts";

export const metricsRoute: Route = {
  method: "GET",
  path: "/v1/metrics",
  may: "manage",
  summary: "What the server does, in the text format of Prometheus.",
  handle: ({ parts }) => new Response(metricsText(parts), { headers: { "content-type": EXPOSITION_TYPE } }),
};

function metricsText({ metrics, feeds, harness }: ServerParts): string {
  const { threads, turns } = harness.load();
  const { user, system } = process.cpuUsage();
  const cpu = gauge("process_cpu_seconds_total", "CPU time of the process.", (user + system) / 1e6);
  return exposition([
    ...metrics.families(),
    gauge("cinch_feeds", "Threads that are watched.", feeds.size),
    gauge("cinch_threads_open", "Threads that this process has open.", threads),
    gauge("cinch_turns_driven", "Turns that this process drives.", turns),
    gauge("process_resident_memory_bytes", "Memory of the process.", process.memoryUsage.rss()),
    { ...cpu, type: "counter" },
  ]);
}
