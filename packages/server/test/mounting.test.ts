import assert from "node:assert/strict";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { say, script } from "@cinch/testkit";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import { Hono } from "hono";
import { serving, type CinchServer } from "./serving.ts";
import { Watching } from "./feeds/watching.ts";

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

async function listening(listener: Listener) {
  const server = createHttpServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Creates a thread, then watches and renames it, again and again. With one stream for each caller, each watcher must leave first. */
async function works(url: string): Promise<void> {
  const json = { "content-type": "application/json" };
  const created = await fetch(`${url}/v1/threads`, { method: "POST", headers: json, body: "{}" });
  assert.equal(created.status, 201);
  const { id } = (await created.json()) as { id: string };
  for (let n = 0; n < 3; n++) {
    const watching = await whenFree(`${url}/v1/threads/${id}/events`);
    await watching.until(({ frames }) => frames.length > 0);
    const body = JSON.stringify({ title: `renamed ${n}` });
    const renamed = await fetch(`${url}/v1/threads/${id}/renameThread`, { method: "POST", headers: json, body });
    assert.equal(renamed.status, 204);
    await watching.until(({ display }) => display.title === `renamed ${n}`);
    watching.close();
  }
}

async function whenFree(url: string): Promise<Watching> {
  for (;;) {
    const watching = await Watching.open(url).catch(() => null);
    if (watching) return watching;
    await delay(20);
  }
}

const serve = () => serving({ model: script(say("hi")), limits: { streams: 1 } });
const JSON_TYPE = { "content-type": "application/json" };

test("the server mounts in Hono below a prefix, whether Hono removes it from the url or not", async () => {
  await using at = await serve();
  const app = new Hono().mount("/agents/cinch", at.server.fetch);
  app.all("/whole/*", (context) => at.server.fetch(context.req.raw));
  await using outer = await listening(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
  await works(`${outer.url}/agents/cinch`);
  await works(`${outer.url}/whole`);
});

test("the server mounts in Express below a prefix, and in a router of its own", async () => {
  await using at = await serve();
  const router = express.Router().use("/cinch", at.server.node);
  const app = express().use("/agents", at.server.node).use("/deep", router);
  app.get("/other", (_, response) => response.send("of Express"));
  await using outer = await listening(app);
  await works(`${outer.url}/agents`);
  await works(`${outer.url}/deep/cinch`);
  assert.equal(await (await fetch(`${outer.url}/other`)).text(), "of Express");
});

test("the links to files in a chat have the prefix, also where Express has removed it from the url", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const router = express.Router().use("/cinch", at.server.node);
  const app = new Hono();
  app.mount("/kept", at.server.fetch, { replaceRequest: false });
  const hono = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  await using outer = await listening(express().use("/deep", router).use(hono));
  const file = { type: "file", mediaType: "text/plain", url: `data:text/plain;base64,${btoa("hello")}` };
  for (const prefix of ["/deep/cinch", "/kept"]) {
    const id = `chat${prefix.replaceAll("/", "-")}`;
    const messages = [{ id: "m", role: "user", parts: [file] }];
    const init = { method: "POST", headers: JSON_TYPE, body: JSON.stringify({ id, messages }) };
    await (await fetch(`${outer.url}${prefix}/v1/chat`, init)).text();
    const listed = await fetch(`${outer.url}${prefix}/v1/chat/${id}/messages`);
    const [{ parts }] = (await listed.json()) as [{ parts: [{ url: string }] }];
    assert.equal(await (await fetch(outer.url + parts[0].url)).text(), "hello");
  }
});

test("a command whose body Express has read already is refused, and not run without it", async () => {
  await using at = await serve();
  const app = express().use(express.json(), express.urlencoded()).use("/agents", at.server.node);
  await using outer = await listening(app);
  const url = `${outer.url}/agents/v1/threads`;
  for (const body of ['{"title":"lost"}', new Blob(['{"title":"lost"}']).stream()]) {
    const init = { method: "POST", headers: JSON_TYPE, body, duplex: "half" } as RequestInit;
    const response = await fetch(url, init);
    assert.equal(response.status, 400);
    assert.match(await response.text(), /express\.json/);
  }
  assert.deepEqual(await at.at.json("/v1/threads"), []);
  assert.equal(
    (await fetch(url, { method: "POST", headers: JSON_TYPE })).status,
    201,
    "without a body nothing is lost",
  );
});

/** A route file of Next exports these. It sees the whole url, and the signal is aborted when the client leaves. */
function nextRoute({ fetch: handle }: CinchServer) {
  const route = { GET: handle, POST: handle, DELETE: handle };
  return (method: keyof typeof route, path: string, init: RequestInit = {}) =>
    route[method](new Request(`http://localhost:3000/api/cinch${path}`, { method, ...init }));
}

test("the server is the handlers of a route file of Next, which sees the whole url", async () => {
  await using at = await serve();
  const ask = nextRoute(at.server);
  const created = await ask("POST", "/v1/threads", { body: "{}", headers: JSON_TYPE });
  const { id } = (await created.json()) as { id: string };
  assert.equal((await ask("GET", `/v1/threads/${id}`)).status, 200);
  for (let n = 0; n < 3; n++) {
    const left = new AbortController();
    const stream = await ask("GET", `/v1/threads/${id}/events`, { signal: left.signal });
    assert.equal(stream.status, 200, "the stream before has ended with its client");
    const reader = stream.body!.getReader();
    assert.match(new TextDecoder().decode((await reader.read()).value), /"type":"resync"/);
    assert.equal((await ask("GET", `/v1/threads/${id}/events`)).status, 429);
    left.abort();
  }
  assert.equal((await ask("DELETE", `/v1/threads/${id}`)).status, 204);
  assert.equal((await ask("GET", `/v1/threads/${id}`)).status, 404);
});

test("another server answers below a name that this one mounts, and GET /v1 says so", async () => {
  await using inner = await serving({ model: script(say("hi")), limits: { streams: 1 } });
  await using outer = await serving({ model: script(say("hi")), mounts: { tour: inner.server.fetch } });
  await works(`${outer.url}/tour/any`);
  const mountsOf = async (url: string) => ((await (await fetch(`${url}/v1`)).json()) as { mounts: string[] }).mounts;
  assert.deepEqual(await mountsOf(outer.url), ["tour"]);
  assert.deepEqual(await mountsOf(`${outer.url}/tour/any`), []);
  assert.deepEqual((await outer.harness.listThreads()).length, 0);
  await assert.rejects(serving({ model: script(), mounts: { v1: inner.server.fetch } }), {
    code: "INVALID_CONFIG",
    message: /"v1" can't be mounted/,
  });
});
