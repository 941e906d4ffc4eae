import assert from "node:assert/strict";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { say, script } from "@cinch/testkit";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono/tiny";
import { serving } from "./serving.ts";
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

test("the server mounts in Hono below a prefix", async () => {
  await using at = await serving({ model: script(say("hi")), limits: { streams: 1 } });
  const app = new Hono().mount("/agents/cinch", (request) => at.server.fetch(request));
  await using outer = await listening(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
  await works(`${outer.url}/agents/cinch`);
});

test("the server mounts in Express below a prefix, which Express removes from the url", async () => {
  await using at = await serving({ model: script(say("hi")), limits: { streams: 1 } });
  await using outer = await listening((request, response) => {
    request.url = request.url!.replace(/^\/agents/, "");
    return at.server.node(request, response);
  });
  await works(`${outer.url}/agents`);
});

test("the server is the handlers of a route file of Next, which sees the whole url", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const route = { GET: at.server.fetch, POST: at.server.fetch, DELETE: at.server.fetch };
  const ask = (method: keyof typeof route, path: string, init: RequestInit = {}) =>
    route[method](new Request(`http://localhost:3000/api/cinch${path}`, { method, ...init }));
  const created = await ask("POST", "/v1/threads", { body: "{}", headers: { "content-type": "application/json" } });
  const { id } = (await created.json()) as { id: string };
  assert.equal((await ask("GET", `/v1/threads/${id}`)).status, 200);
  assert.equal((await ask("DELETE", `/v1/threads/${id}`)).status, 204);
  assert.equal((await ask("GET", `/v1/threads/${id}`)).status, 404);
});
