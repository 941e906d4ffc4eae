import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { say, script } from "@cinch/testkit";
import { createServer, type LogLine } from "@cinch/server";
import { Watching } from "../feeds/watching.ts";
import { raw } from "../access/raw-socket.ts";
import { authenticate, serving } from "../serving.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A server whose log is a list. */
async function logged(options: Partial<Parameters<typeof serving>[0]> = {}) {
  const lines: LogLine[] = [];
  const at = await serving({
    model: script(say("hi")),
    authenticate,
    log: (line) => lines.push(line),
    ...options,
  });
  /** Without what differs from run to run. */
  const facts = () =>
    lines.map((line) => {
      const { time: _, requestId: __, ms: ___, ...rest } = line;
      return rest;
    });
  return { ...at, ann: at.at.as("ann-token"), lines, facts };
}

test("each request is one line: who, which route, which thread, with which status, how long and how large", async () => {
  await using at = await logged();
  const { id } = await at.ann.thread({ title: "x" });
  const { text, headers } = await at.ann.get(`/v1/threads/${id}/listInbox`);
  const [created, listed, ...more] = at.lines;
  assert.deepEqual(more, []);
  assert.deepEqual(at.facts()[1], {
    level: "info",
    event: "request",
    method: "GET",
    route: "/v1/threads/{threadId}/listInbox",
    status: 200,
    bytes: text.length,
    by: "ann",
    threadId: id,
  });
  assert.deepEqual([created!.route, created!.status], ["/v1/threads", 201]);
  assert.equal(headers["x-request-id"], listed!.requestId);
  assert.match(listed!.requestId, UUID);
  assert.notEqual(created!.requestId, listed!.requestId);
  assert.ok(Math.abs(Date.parse(listed!.time) - Date.now()) < 60_000);
  assert.ok(listed!.ms >= 0);
});

test("a line of a refused request says why", async () => {
  await using at = await logged();
  await using busy = await logged({ limits: { requestsPerSecond: 0.1 } });
  const bob = at.at.as("bob-token");
  await at.at.with({ host: "evil.example" }).get("/v1/threads");
  await at.at.with({ origin: "https://evil.example" }).get("/v1/threads");
  await at.at.get("/v1/threads");
  await bob.post("/v1/threads");
  await at.ann.get("/v1/no/such/route");
  await at.ann.get("/v1/threads/no--thread");
  await at.ann.get("/v1/threads?limit=x");
  await busy.ann.get("/v1/threads");
  assert.deepEqual(
    [...at.facts(), ...busy.facts()].map(({ status, refused, route, by }) => [status, refused, route, by]),
    [
      [403, "host", null, undefined],
      [403, "origin", null, undefined],
      [401, "unauthenticated", "/v1/threads", undefined],
      [403, "role", "/v1/threads", "bob"],
      [404, "not_found", null, "ann"],
      [404, "thread_not_found", "/v1/threads/{threadId}", "ann"],
      [400, "invalid_input", "/v1/threads", "ann"],
      [429, "rate", "/v1/threads", "ann"],
    ],
  );
});

test("a stream has a line when it begins and one when it ends, with what it sent", async () => {
  await using at = await logged();
  const { id } = await at.ann.thread();
  const headers = { authorization: "Bearer ann-token" };
  const watching = await Watching.open(`${at.url}/v1/threads/${id}/events`, { headers });
  await watching.until(({ frames }) => frames.length > 0);
  const list = await Watching.open(`${at.url}/v1/events`, { headers });
  await at.ann.post(`/v1/threads/${id}/renameThread`, { title: "seen" });
  await watching.until(({ display }) => display.title === "seen");
  await at.server.close();
  await Promise.all([watching.ended, list.ended]);
  const streams = at.facts().filter(({ event }) => event !== "request");
  assert.deepEqual(
    streams.map(({ event, route, bytes }) => [event, route, bytes > 0]),
    [
      ["stream_start", "/v1/threads/{threadId}/events", false],
      ["stream_start", "/v1/events", false],
      ["stream_end", "/v1/events", true],
      ["stream_end", "/v1/threads/{threadId}/events", true],
    ],
  );
  const sent = watching.frames.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 2, 0);
  assert.equal(streams.at(-1)!.bytes, sent);
});

test("the cause of a failure is in the log under the id of the answer, and its error goes to the program alone", async () => {
  const causes: unknown[] = [];
  const lines: LogLine[] = [];
  const broken = Object.assign(new TypeError("the key is sk-secret"), { code: "EBROKEN" });
  await using at = await serving({
    model: script(say("hi")),
    authenticate: () => Promise.reject(broken),
    log: (line, cause) => {
      lines.push(line);
      causes.push(cause);
    },
  });
  const { status, text, headers } = await at.at.get("/v1/threads");
  assert.equal(status, 500);
  const [line] = lines;
  assert.deepEqual([line!.level, line!.status, line!.cause], ["error", 500, { name: "TypeError", code: "EBROKEN" }]);
  assert.ok(text.includes(line!.requestId), text);
  assert.equal(headers["x-request-id"], line!.requestId);
  assert.doesNotMatch(JSON.stringify(lines) + text, /sk-secret/);
  assert.deepEqual(causes, [broken]);
});

test("an error whose name and code a caller could have written is not named by them", async () => {
  const error = Object.assign(new Error("x"), { name: "Bearer ann-token", code: "sk-secret key" });
  await using at = await logged({ authenticate: () => Promise.reject(error) });
  await at.at.get("/v1/threads");
  assert.deepEqual(at.lines[0]!.cause, { name: "object" });
});

test("a log that throws fails no request", async () => {
  await using at = await logged({
    log: () => {
      throw new Error("The disk is full.");
    },
  });
  assert.equal((await at.at.get("/v1/health")).status, 200);
});

test("a method that no server knows is not written to the log as it is", async () => {
  await using at = await logged();
  const lines: LogLine[] = [];
  const server = createServer({ harness: at.harness, log: (line) => lines.push(line) });
  await server.fetch(new Request("http://localhost/v1/threads", { method: "SECRETWORD" }));
  assert.equal(lines[0]!.method, "OTHER");
  await server.close();
});

test("what is refused before it is a request has a line too, and nothing of what was sent is in it", async () => {
  await using at = await logged({ limits: { requestMs: 300 } });
  const host = "Host: localhost\r\n";
  const sent = [
    `GET http://secret.example/v1 HTTP/1.1\r\n${host}\r\n`,
    `SECRET\r\n\r\n`,
    `GET /v1/health HTTP/1.1\r\n${host}X: ${"secret".repeat(5_000)}\r\n\r\n`,
    `POST /v1/threads HTTP/1.1\r\n${host}X: secret`,
  ];
  for (const bytes of sent) await raw(at.port, bytes);
  assert.deepEqual(
    at.facts().map(({ status, refused, method }) => [status, refused, method]),
    [
      [400, "ambiguous", "GET"],
      [400, "malformed", "OTHER"],
      [431, "too_large", "OTHER"],
      [408, "slow", "OTHER"],
    ],
  );
  assert.doesNotMatch(JSON.stringify(at.lines), /secret/i);
  // A client that goes away in mid-request was not refused.
  const gone = connect(at.port, "127.0.0.1", () => gone.write(`POST /v1/threads HTTP/1.1\r\n${host}X: secret`));
  await once(gone, "connect");
  gone.resetAndDestroy();
  await at.at.get("/v1/health");
  assert.equal(at.lines.length, sent.length + 1);
});
