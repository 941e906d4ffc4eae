import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { say, script } from "@cinch/testkit";
import { authenticate, errorOf, serving } from "../serving.ts";
import { Watching } from "../feeds/watching.ts";

const headers = { authorization: "Bearer ann-token" };
const serve = (limits = {}) => serving({ model: script(say("hi")), authenticate, limits });

test("the 65th stream of a token is refused, whatever it is a stream of, and others have theirs", async () => {
  await using at = await serve();
  const ann = at.at.as("ann-token");
  const { id } = await ann.thread();
  const events = `/v1/threads/${id}/events`;
  const streams = ["/v1/events", events, `${events}?list=true`, `${events}?since=0`];
  const open = await Promise.all(
    Array.from({ length: 64 }, (_, n) => Watching.open(at.url + streams[n % streams.length]!, { headers })),
  );
  const refused = [...streams.map((path) => ann.get(path)), ann.with({ accept: "application/json" }).get(events)];
  for (const answer of await Promise.all(refused)) {
    assert.deepEqual([answer.status, errorOf(answer).code], [429, "TOO_MANY"]);
    assert.ok(answer.headers["retry-after"]);
  }
  assert.equal((await ann.get("/v1/threads")).status, 200, "what is no stream is still answered");
  const bob = await Watching.open(at.url + events, { headers: { authorization: "Bearer bob-token" } });
  open[0]!.close();
  const again = await whenAccepted(() => Watching.open(at.url + events, { headers }));
  for (const one of [...open, bob, again]) one.close();
});

test("a poll counts as a stream as long as its caller waits, and no longer", async () => {
  await using at = await serve({ streams: 1 });
  const ann = at.at.as("ann-token");
  const { id } = await ann.thread();
  const events = `${at.url}/v1/threads/${id}/events`;
  const shown = () => at.at.as("bob-token").json<{ seq: number; seats: string[] }>(`/v1/threads/${id}`);
  const { seq } = await shown();
  const left = new AbortController();
  const json = { ...headers, accept: "application/json" };
  const poll = fetch(`${events}?since=${seq}`, { headers: json, signal: left.signal }).catch(() => "left");
  while (!(await shown()).seats.includes("ann")) await delay(10);
  assert.equal((await ann.get(`/v1/threads/${id}/events`)).status, 429);
  left.abort();
  assert.equal(await poll, "left");
  const watching = await whenAccepted(() => Watching.open(events, { headers }));
  watching.close();
});

async function whenAccepted<T>(open: () => Promise<T>): Promise<T> {
  for (;;) {
    const opened = await open().catch(() => null);
    if (opened) return opened;
    await delay(10);
  }
}
