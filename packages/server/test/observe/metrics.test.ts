import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { test } from "node:test";
import { defineTool } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { exposition } from "../../src/observe/exposition.ts";
import { Histogram } from "../../src/observe/instruments.ts";
import { Watching } from "../feeds/watching.ts";
import { authenticate, errorOf, serving, type Remote } from "../serving.ts";
import { parsedExposition, type Exposition } from "./parsed-exposition.ts";

const scraped = async (remote: Remote): Promise<Exposition> => {
  const { status, text, headers } = await remote.get("/v1/metrics");
  assert.equal(status, 200, text);
  assert.equal(headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
  return parsedExposition(text);
};

test("metrics are in the text format of Prometheus, for callers that may manage", async () => {
  await using at = await serving({ model: script(say("hi")), authenticate });
  const [ann, bob] = [at.at.as("ann-token"), at.at.as("bob-token")];
  const { id } = await ann.thread();
  await ann.get(`/v1/threads/${id}`);
  await ann.get(`/v1/threads/${id}`);
  await at.at.with({ host: "evil.example" }).get("/v1/threads");
  const refused = await bob.get("/v1/metrics");
  assert.deepEqual([refused.status, errorOf(refused).code], [403, "PERMISSION_DENIED"]);
  const metrics = await scraped(ann);
  const snapshot = { method: "GET", route: "/v1/threads/{threadId}" };
  assert.equal(metrics.value("cinch_http_requests_total", { ...snapshot, status: "200" }), 2);
  assert.equal(metrics.value("cinch_http_request_duration_seconds_count", snapshot), 2);
  assert.equal(metrics.value("cinch_refused_total", { reason: "host" }), 1);
  assert.equal(metrics.value("cinch_refused_total", { reason: "role" }), 1);
  assert.equal(metrics.value("cinch_threads_open"), 1);
  assert.ok(metrics.value("process_resident_memory_bytes")! > 1e6);
  assert.deepEqual(
    ["cinch_threads_awake", "cinch_threads_driven", "cinch_takeovers_total", "cinch_wakes_failed_total"].map((name) =>
      metrics.value(name),
    ),
    [0, 0, 0, 0],
  );
  assert.equal(metrics.value("cinch_oldest_awake_seconds"), 0);
  assert.deepEqual(
    [metrics.value("cinch_append_seconds_count"), metrics.value("cinch_append_seconds", { quantile: "0.99" })],
    [0, 0],
  );
});

test("metrics count streams, watchers, feeds, bytes and resyncs while they happen", async () => {
  await using at = await serving({ model: script(say("hi")), authenticate });
  const ann = at.at.as("ann-token");
  const { id } = await ann.thread();
  const headers = { authorization: "Bearer ann-token" };
  const before = (await scraped(ann)).value("cinch_sent_bytes_total")!;
  const open = (path: string) => Watching.open(`${at.url}${path}`, { headers });
  const streams = [await open(`/v1/threads/${id}/events`), await open(`/v1/threads/${id}/events?since=1`)];
  streams.push(await open(`/v1/threads/${id}/events?since=999`), await open("/v1/events"));
  await streams[0]!.until(({ frames }) => frames.length > 0);
  const during = await scraped(ann);
  const values = (metrics: Exposition) =>
    ["cinch_streams_open", "cinch_watchers", "cinch_feeds"].map((name) => metrics.value(name));
  assert.deepEqual(values(during), [4, 3, 1]);
  assert.equal(during.value("cinch_resyncs_total", { reason: "join" }), 1);
  assert.equal(during.value("cinch_resyncs_total", { reason: "replay" }), 1);
  assert.ok(during.value("cinch_sent_bytes_total")! > before);
  for (const stream of streams) stream.close();
  while (values(await scraped(ann)).some((value) => value !== 0)) await delay(10);
});

test("metrics count the turns that this process drives", async () => {
  const opened = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const gate = defineTool({
    description: "Waits",
    input: z.object({}),
    execute: async () => {
      started.resolve();
      await opened.promise;
      return "through";
    },
  });
  await using at = await serving({ model: script(call("gate"), say("done")), tools: { gate } });
  const { id } = await at.at.thread();
  assert.equal((await scraped(at.at)).value("cinch_turns_driven"), 0);
  await at.at.post(`/v1/threads/${id}/post`, { content: "go", delivery: "send" });
  await started.promise;
  assert.equal((await scraped(at.at)).value("cinch_turns_driven"), 1);
  opened.resolve();
  await at.at.get(`/v1/threads/${id}/settled`);
  while ((await scraped(at.at)).value("cinch_turns_driven") !== 0) await delay(10);
});

test("labels are escaped, and the buckets of a histogram contain those below", () => {
  const histogram = new Histogram("took_seconds", "A \\ and\na line.");
  const labels = { what: 'a "quoted" \\ back\nslash' };
  for (const seconds of [0.001, 0.02, 0.02, 99]) histogram.observe(labels, seconds);
  const metrics = parsedExposition(exposition([histogram.family]));
  const upTo = (le: string) => metrics.value("took_seconds_bucket", { ...labels, le });
  assert.deepEqual([upTo("0.005"), upTo("0.01"), upTo("0.025"), upTo("30"), upTo("+Inf")], [1, 1, 3, 3, 4]);
  assert.equal(metrics.value("took_seconds_count", labels), 4);
});

test("docs/operations.md explains every metric, and no other", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const { text } = await at.at.get("/v1/metrics");
  const exposed = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  const page = readFileSync(new URL("../../../../docs/operations.md", import.meta.url), "utf8");
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));
  const explained = rows.flatMap((row) => [...row.matchAll(/`((?:cinch|process)_\w+)`/g)].map(([, name]) => name));
  assert.deepEqual(explained.toSorted(), exposed.toSorted());
});
