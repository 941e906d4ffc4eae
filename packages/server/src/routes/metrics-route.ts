import type { HarnessMetrics, LatencySummary } from "@cinch/core";
import { EXPOSITION_TYPE, exposition, type MetricFamily } from "../observe/exposition.ts";
import { gauge } from "../observe/metrics.ts";
import type { Route, ServerParts } from "./route.ts";

/** How long a store that is away may hold up the metrics of the process. */
const STORE_MS = 2_000;

export const metricsRoute: Route = {
  method: "GET",
  path: "/v1/metrics",
  may: "manage",
  summary: "What the server does, in the text format of Prometheus.",
  answers: { 200: ["text/plain"] },
  handle: async ({ parts }) => new Response(await metricsText(parts), { headers: { "content-type": EXPOSITION_TYPE } }),
};

async function metricsText({ metrics, feeds, harness }: ServerParts): Promise<string> {
  const { threads, turns } = harness.load();
  const { user, system } = process.cpuUsage();
  const cpu = counter("process_cpu_seconds_total", "CPU time of the process.", (user + system) / 1e6);
  const counted = await orLate(harness.metrics());
  return exposition([
    ...metrics.families(),
    gauge("cinch_feeds", "Threads that are watched.", feeds.size),
    gauge("cinch_threads_open", "Threads that this process has open.", threads),
    gauge("cinch_turns_driven", "Turns that this process drives.", turns),
    ...(counted ? familiesOf(counted) : []),
    gauge("process_resident_memory_bytes", "Memory of the process.", process.memoryUsage.rss()),
    cpu,
  ]);
}

/** `null`: the store does not answer. */
function orLate(counted: Promise<HarnessMetrics>): Promise<HarnessMetrics | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), STORE_MS);
  return Promise.race([counted.catch(() => null), late.promise]).finally(() => clearTimeout(timer));
}

function familiesOf(counted: HarnessMetrics): MetricFamily[] {
  const { batches = 0, batchedAppends = 0, pool = { size: 0, busy: 0, waiting: 0 } } = counted.store ?? {};
  return [
    gauge("cinch_threads_awake", "Threads that need a driver and have none, in the store.", counted.awake),
    gauge("cinch_oldest_awake_seconds", "How long the first of them has been so.", counted.oldestAwakeMs / 1_000),
    gauge("cinch_threads_driven", "Threads that all processes on the store drive.", counted.drivenByAll),
    counter("cinch_takeovers_total", "Turns continued here because their driver died.", counted.takeovers),
    counter("cinch_appends_refused_total", "Appends without the lease.", counted.refusedAppends),
    counter("cinch_wakes_total", "Wakes that were sent.", counted.wakesSent),
    counter("cinch_wakes_failed_total", "Wakes that the placement did not take.", counted.wakesFailed),
    summary("cinch_append_seconds", "From an append until it is on disk.", counted.append),
    summary("cinch_follow_seconds", "From an event of another process until it is here.", counted.follow),
    gauge("cinch_live_readers", "Readers of the live link in other processes.", counted.liveReaders),
    counter("cinch_store_batches_total", "Transactions with appends.", batches),
    counter("cinch_store_batched_appends_total", "Appends in them.", batchedAppends),
    gauge("cinch_pool_connections", "Connections to the store.", pool.size),
    gauge("cinch_pool_busy", "Connections that are in use.", pool.busy),
    gauge("cinch_pool_waiting", "Calls that wait for a connection.", pool.waiting),
  ];
}

const counter = (name: string, help: string, value: number): MetricFamily => ({
  ...gauge(name, help, value),
  type: "counter",
});

const summary = (name: string, help: string, { count, sumMs, p50Ms, p99Ms }: LatencySummary): MetricFamily => ({
  name,
  type: "summary",
  help,
  samples: [
    { labels: { quantile: "0.5" }, value: p50Ms / 1_000 },
    { labels: { quantile: "0.99" }, value: p99Ms / 1_000 },
    { suffix: "_sum", value: sumMs / 1_000 },
    { suffix: "_count", value: count },
  ],
});
