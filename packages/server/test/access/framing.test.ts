import assert from "node:assert/strict";
import { test } from "node:test";
import { say, script } from "@cinch/testkit";
import { serving } from "../serving.ts";
import { raw, statusesOf } from "./raw-socket.ts";

const model = () => script(say("hi"));
const HOST = "Host: localhost\r\n";
const JSON_TYPE = "Content-Type: application/json\r\n";
const BODY = '{"id":"smuggled"}';
/** A request that must never be seen as one: it is hidden in what another request sends. */
const HIDDEN = `POST /v1/threads HTTP/1.1\r\n${HOST}${JSON_TYPE}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;

const post = (headers: string, body: string, version = "1.1") =>
  `POST /v1/threads HTTP/${version}\r\n${HOST}${JSON_TYPE}${headers}\r\n${body}`;
const get = (line: string, headers = HOST) => `${line}\r\n${headers}\r\n`;
const chunks = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;

/** Two readers of one connection, such as a proxy and this server, could find different ends, targets or headers in each. */
const AMBIGUOUS: Record<string, string> = {
  "a length, then chunks": post("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", `0\r\n\r\n${HIDDEN}`),
  "chunks, then a length": post("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", chunks(BODY)),
  "two encodings": post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", `0\r\n\r\n${HIDDEN}`),
  "chunks that are not the last encoding": post("Transfer-Encoding: chunked, identity\r\n", `0\r\n\r\n${HIDDEN}`),
  "an unknown encoding": post("Transfer-Encoding: xchunked\r\n", `0\r\n\r\n${HIDDEN}`),
  "a space before a colon": post("Transfer-Encoding : chunked\r\n", `0\r\n\r\n${HIDDEN}`),
  "a control character before an encoding": post("Transfer-Encoding: \x0bchunked\r\n", `0\r\n\r\n${HIDDEN}`),
  "chunks in HTTP/1.0, which has none": post("Transfer-Encoding: chunked\r\n", chunks(BODY), "1.0"),
  "the same, kept alive": post("Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n", chunks(BODY), "1.0"),
  "two lengths": post(`Content-Length: 0\r\nContent-Length: ${BODY.length}\r\n`, BODY),
  "the same length twice": post("Content-Length: 2\r\nContent-Length: 2\r\n", "{}"),
  "a list of lengths": post("Content-Length: 2, 2\r\n", "{}"),
  "a length with a sign": post("Content-Length: +2\r\n", "{}"),
  "a length below zero": post("Content-Length: -1\r\n", HIDDEN),
  "a length in hex": post("Content-Length: 0x11\r\n", BODY),
  "a length beyond numbers": post("Content-Length: 99999999999999999999999\r\n", "{}"),
  "a folded header": post("Transfer-Encoding:\r\n chunked\r\n", `0\r\n\r\n${HIDDEN}`),
  "a folded header without meaning": post("X-A: a\r\n b\r\nContent-Length: 2\r\n", "{}"),
  "lines that end in LF": post("Content-Length: 2\r\n", "{}").replaceAll("\r\n", "\n"),
  "a CR inside a header": post("X-A: a\rContent-Length: 2\r\n", "{}"),
  "a NUL inside a header": post("X-A: a\0b\r\nContent-Length: 2\r\n", "{}"),
  "a chunk extension with LF": post("Transfer-Encoding: chunked\r\n", `2;a\nxx\r\n{}\r\n0\r\n\r\n${HIDDEN}`),
  "a chunk size beyond numbers": post("Transfer-Encoding: chunked\r\n", "FFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n"),
  "a chunk size with a sign": post("Transfer-Encoding: chunked\r\n", "+2\r\n{}\r\n0\r\n\r\n"),
  "a chunk size with a prefix": post("Transfer-Encoding: chunked\r\n", "0x2\r\n{}\r\n0\r\n\r\n"),
  "a chunk longer than its size": post("Transfer-Encoding: chunked\r\n", `2\r\n{}XX0\r\n\r\n${HIDDEN}`),
  "HTTP/0.9": "GET /v1/threads\r\n\r\n",
  "HTTP/1.2": get("GET /v1/threads HTTP/1.2"),
  "HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  TLS: "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
  "a method in lower case": get("get /v1/threads HTTP/1.1"),
  "a space before the method": get(" GET /v1/threads HTTP/1.1"),
  "tabs in the request line": get("GET\t/v1/threads\tHTTP/1.1"),
  "a CR in the target": get("GET /v1/threads\rX: HTTP/1.1"),
  "no host": get("GET /v1/threads HTTP/1.1", "Connection: close\r\n"),
  "no host in HTTP/1.0": get("GET /v1/threads HTTP/1.0", ""),
  "an empty host": get("GET /v1/threads HTTP/1.1", "Host:\r\nConnection: close\r\n"),
  "two hosts, a foreign one last": get(
    "GET /v1/threads HTTP/1.1",
    `${HOST}Host: evil.example\r\nConnection: close\r\n`,
  ),
  "two hosts, a foreign one first": get(
    "GET /v1/threads HTTP/1.1",
    `Host: evil.example\r\n${HOST}Connection: close\r\n`,
  ),
  "the same host twice": get("GET /v1/threads HTTP/1.1", `${HOST}${HOST}Connection: close\r\n`),
  "a target with a foreign host": get("GET http://evil.example/v1/threads HTTP/1.1"),
  "a target with a foreign host, by https": get("GET https://evil.example/v1/threads HTTP/1.1"),
  "a target with the own host": get("GET http://localhost/v1/threads HTTP/1.1"),
  "a target of another scheme": get("GET ftp://localhost/v1/threads HTTP/1.1"),
  "a target that is a host": get("GET evil.example:80 HTTP/1.1"),
  "a target that is a star": get("OPTIONS * HTTP/1.1"),
};

test("a request that two readers could understand differently is refused, and the connection is closed", async () => {
  await using at = await serving({ model: model() });
  for (const [name, bytes] of Object.entries(AMBIGUOUS)) {
    // The connection ends by itself, or this would wait for ever.
    const [first, ...others] = statusesOf(await raw(at.port, bytes));
    assert.ok(first === 400 || first === 403, `${name}: ${first}`);
    assert.deepEqual(others, [], name);
  }
  assert.equal(await raw(at.port, get("CONNECT evil.example:80 HTTP/1.1")), "");
  assert.deepEqual(await at.at.json("/v1/threads"), []);
});

test("the body of a request is never read as the next request, whether the first is accepted or not", async () => {
  await using at = await serving({ model: model() });
  const last = get("GET /v1/health HTTP/1.1", `${HOST}Connection: close\r\n`);
  const lengths = [`Content-Length: ${HIDDEN.length}\r\n`, "Transfer-Encoding: chunked\r\n"];
  for (const framing of lengths) {
    const body = framing.startsWith("T") ? chunks(HIDDEN) : HIDDEN;
    const firsts: [line: string, headers: string, status: number][] = [
      ["POST /v1/threads HTTP/1.1", `Host: evil.example\r\n${JSON_TYPE}`, 403],
      ["POST /v1/threads HTTP/1.1", `${HOST}Origin: null\r\n${JSON_TYPE}`, 403],
      ["POST /v1/threads HTTP/1.1", `${HOST}Content-Type: text/plain\r\n`, 415],
      ["POST /v1/threads HTTP/1.1", `${HOST}${JSON_TYPE}`, 400],
      ["POST /v1/nothing HTTP/1.1", `${HOST}${JSON_TYPE}`, 404],
      ["PATCH /v1/threads HTTP/1.1", `${HOST}${JSON_TYPE}`, 405],
      ["GET /v1/threads HTTP/1.1", HOST, 200],
    ];
    for (const [line, headers, status] of firsts) {
      const received = await raw(at.port, `${get(line, `${headers}${framing}`)}${body}${last}`);
      assert.deepEqual(statusesOf(received), [status, 200], `${line} ${headers} ${framing}`);
    }
  }
  assert.deepEqual(await at.at.json("/v1/threads"), []);
});

test("what comes after the chunks of a body changes neither the host nor the caller", async () => {
  await using at = await serving({
    model: model(),
    authenticate: (request) => (request.headers.get("authorization") === "Bearer ann" ? { may: ["talk"] } : null),
  });
  const trailers = "Host: evil.example\r\nAuthorization: Bearer ann\r\n";
  const sent = post("Trailer: Authorization\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n", "");
  assert.deepEqual(statusesOf(await raw(at.port, `${sent}2\r\n{}\r\n0\r\n${trailers}\r\n`)), [401]);
});

test("an upgrade is ignored, so no connection leaves the checks of requests", async () => {
  await using at = await serving({ model: model() });
  const upgrade = { upgrade: "websocket", connection: "Upgrade", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" };
  assert.equal((await at.at.with(upgrade).get("/v1/threads")).status, 200);
  assert.equal((await at.at.with({ ...upgrade, origin: "http://evil.example" }).get("/v1/threads")).status, 403);
});

test("a connection that sends nothing, or not all of a request, is cut, whether it would be accepted or not", async () => {
  await using at = await serving({ model: model(), limits: { requestMs: 1_000 } });
  const started = {
    nothing: "",
    "empty lines": "\r\n\r\n",
    "half a request line": "GET /v1/thr",
    "headers without an end": `POST /v1/threads HTTP/1.1\r\n${HOST}${JSON_TYPE}`,
    "half a body": post("Content-Length: 100\r\n", '{"ti'),
    "half a chunk": post("Transfer-Encoding: chunked\r\n", '64\r\n{"ti'),
    "half a body of a refused request": post("Origin: null\r\nContent-Length: 100\r\n", '{"ti'),
    "half a body of a GET": get("GET /v1/threads HTTP/1.1", `${HOST}Content-Length: 100\r\n`),
  };
  const received = await Promise.all(Object.values(started).map((bytes) => raw(at.port, bytes)));
  const statuses = Object.fromEntries(Object.keys(started).map((name, n) => [name, statusesOf(received[n]!)[0]]));
  assert.deepEqual(statuses, {
    nothing: 408,
    "empty lines": 408,
    "half a request line": 408,
    "headers without an end": 408,
    "half a body": 408,
    "half a chunk": 408,
    "half a body of a refused request": 403,
    "half a body of a GET": 200,
  });
  assert.deepEqual(await at.at.json("/v1/threads"), []);
});

test("a body that trickles in is cut when its time is over, however regularly it comes", async () => {
  await using at = await serving({ model: model(), limits: { requestMs: 1_000 } });
  const slow = new ReadableStream({
    pull: async (controller) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      controller.enqueue(new TextEncoder().encode(" "));
    },
  });
  const sent = fetch(`${at.url}/v1/threads`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: slow,
    duplex: "half",
  } as RequestInit);
  // The answer, or the end of the connection, whichever the client sees first.
  const status = await sent.then(
    (response) => response.status,
    () => 408,
  );
  assert.equal(status, 408);
  assert.deepEqual(await at.at.json("/v1/threads"), []);
});
