import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { say, script } from "@cinch/testkit";
import { authenticate, errorOf, serving } from "../serving.ts";
import { Watching } from "../feeds/watching.ts";

const JSON_TYPE = "application/json";
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

test("a caller sends four large bodies at a time, and small ones and those of others beside them", async () => {
  await using at = await serving({ model: script(say("hi")), authenticate, limits: { bodyBytes: 1_000 } });
  const { id } = await at.at.as("ann-token").thread();
  const { id: hers } = await at.at.as("cat-token").thread();
  const form = (content: string) =>
    `--limit\r\nContent-Disposition: form-data; name="body"\r\n\r\n{"content":"${content}"}\r\n--limit--\r\n`;
  const type = "multipart/form-data; boundary=limit";
  const large = "x".repeat(2_000);
  const send = async (token: string, thread: string, content = large) => {
    const as = at.at.as(token).with({ "content-type": type });
    return (await as.send("POST", `/v1/threads/${thread}/steer`, form(content))).status;
  };
  const begun = (path: string, contentType: string) => {
    const socket = connect(at.port, "127.0.0.1");
    const head = [
      `POST ${path} HTTP/1.1`,
      "Host: localhost",
      "Authorization: Bearer ann-token",
      `Content-Type: ${contentType}`,
    ];
    socket.write(`${head.join("\r\n")}\r\nContent-Length: 1000000\r\n\r\n`);
    return socket;
  };
  const steer = `/v1/threads/${id}/steer`;
  const slow = [begun(steer, type), begun(steer, type), begun("/v1/chat", JSON_TYPE), begun("/v1/agui", JSON_TYPE)];
  while ((await send("ann-token", id)) !== 429) await delay(10);
  assert.equal(await send("cat-token", hers), 200);
  assert.equal(await send("ann-token", id, "small"), 200);
  for (const socket of slow) socket.destroy();
  while ((await send("ann-token", id)) !== 200) await delay(10);
});

async function whenAccepted<T>(open: () => Promise<T>): Promise<T> {
  for (;;) {
    const opened = await open().catch(() => null);
    if (opened) return opened;
    await delay(10);
  }
}
