import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { test } from "node:test";
import type { ThreadRecord } from "@cinch/core";
import { say, script } from "@cinch/testkit";
import { createServer } from "@cinch/server";
import { authenticate, errorOf, people, serving } from "../serving.ts";

const model = () => script(say("hi"));

test("a request for another host is refused, also if its name resolves to this machine", async () => {
  await using at = await serving({ model: model(), authenticate });
  const ann = at.at.as("ann-token");
  const { port } = at;
  const foreign = [
    "evil.example",
    `evil.example:${port}`,
    "localhost.evil.example",
    `127.0.0.1.evil.example:${port}`,
    "localhost:1@evil.example",
    "localhost/evil.example",
    "127.1",
    "0.0.0.0",
    "localhost.",
    "evil.example, localhost",
    "[::1].evil.example",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "127.0.0.1.",
    "127.0.0.2",
    "[::ffff:127.0.0.1]",
    "[0:0:0:0:0:0:0:1]",
    "[::1%25lo]",
    "::1",
    "user@localhost",
    "user:localhost@evil.example",
    "evil.example#localhost",
    "evil.example?localhost",
    "evil.example\\localhost",
    "localhost:",
    "localhost:-1",
    "localhost:999999",
    `localhost:${port}:${port}`,
    "localhost\t.evil.example",
    "localhost evil.example",
    "http://localhost",
    "*",
    "lócalhost",
  ];
  for (const host of foreign) {
    for (const path of ["/v1/threads", "/v1/health"]) {
      const { status } = await ann.with({ host }).get(path);
      // Node refuses a malformed one itself.
      assert.ok(status === 403 || status === 400, `${host}: ${status}`);
    }
  }
  for (const host of ["localhost", `localhost:${port}`, `127.0.0.1:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`])
    assert.equal((await ann.with({ host }).get("/v1/threads")).status, 200, host);
  const forwarded = { host: "evil.example", "x-forwarded-host": "localhost", forwarded: "host=localhost" };
  assert.equal((await ann.with(forwarded).get("/v1/threads")).status, 403);
});

test("a request of a page is accepted from the server's own origin only", async () => {
  await using at = await serving({ model: model(), authenticate });
  const host = `127.0.0.1:${at.port}`;
  const ann = at.at.as("ann-token").with({ host });
  const foreign = [
    "null",
    "https://evil.example",
    `http://127.0.0.1:${at.port + 1}`,
    "http://127.0.0.1",
    `http://${host}@evil.example`,
    `http://${host}.evil.example`,
    `file://${host}`,
    "",
  ];
  for (const origin of foreign) {
    assert.equal((await ann.with({ origin }).get("/v1/threads")).status, 403, origin);
    assert.equal((await ann.with({ origin }).post("/v1/threads", {})).status, 403, origin);
    assert.equal((await ann.with({ origin }).send("OPTIONS", "/v1/threads")).status, 403, origin);
  }
  for (const site of ["same-site", "cross-site", "same-origin, cross-site", "other"])
    assert.equal((await ann.with({ "sec-fetch-site": site }).get("/v1/threads")).status, 403, site);
  for (const site of ["same-origin", "none"])
    assert.equal((await ann.with({ "sec-fetch-site": site }).get("/v1/threads")).status, 200, site);
  assert.equal((await ann.with({ origin: `http://${host}` }).get("/v1/threads")).status, 200);
  assert.deepEqual(await ann.json<ThreadRecord[]>("/v1/threads"), []);
});

test("a page of an origin that the program allows may read answers, and no other may", async () => {
  await using at = await serving({ model: model(), authenticate, origins: ["https://app.example"] });
  const page = at.at.with({ origin: "https://app.example", "sec-fetch-site": "cross-site" });
  const asked = await page.send("OPTIONS", "/v1/threads");
  assert.equal(asked.status, 204);
  assert.match(asked.headers["access-control-allow-headers"]!, /authorization/);
  const { status, headers } = await page.as("ann-token").get("/v1/threads");
  assert.deepEqual([status, headers["access-control-allow-origin"]], [200, "https://app.example"]);
  const own = await at.at.as("ann-token").get("/v1/threads");
  assert.equal(own.headers["access-control-allow-origin"], undefined);
});

test("without a token, or with an unknown one, nothing is said but how to send one", async () => {
  await using at = await serving({ model: model(), authenticate });
  const without = await at.at.get("/v1/threads");
  assert.deepEqual([without.status, without.headers["www-authenticate"]], [401, "Bearer"]);
  for (const authorization of ["Bearer wrong", "Basic YW5uOnRva2Vu", "Bearer", "bearer ann-token x", "ann-token"])
    assert.equal((await at.at.with({ authorization }).get("/v1/threads")).status, 401, authorization);
  assert.equal((await at.at.get("/v1/no-such-route")).status, 401);
  assert.equal((await at.at.get("/v1/threads?token=ann-token")).status, 401);
  assert.equal((await at.at.get("/v1/health")).status, 200);
});

test("a caller that loses its role between two requests can do no more than it may now", async () => {
  const one = { ...people[0]! };
  const may: (typeof one)["may"][number][] = ["read", "talk"];
  await using at = await serving({ model: model(), authenticate: () => ({ ...one, may: [...may] }) });
  const { id } = await at.at.thread();
  may.pop();
  const refused = await at.at.post(`/v1/threads/${id}/renameThread`, { title: "x" });
  assert.deepEqual([refused.status, errorOf(refused).code], [403, "PERMISSION_DENIED"]);
});

test("a caller that loses access while it waits for an answer gets none", async () => {
  const access = new AbortController();
  const who = { ...people[0]!, signal: access.signal };
  await using at = await serving({ model: model(), authenticate: () => who });
  const { id } = await at.at.thread();
  const { etag } = (await at.at.get(`/v1/threads/${id}`)).headers;
  const since = /\d+/.exec(etag!)![0];
  const poll = at.at.with({ accept: "application/json" }).get(`/v1/threads/${id}/events?since=${since}`);
  await delay(50);
  access.abort();
  const refused = await poll;
  assert.deepEqual([refused.status, errorOf(refused).code], [401, "UNAUTHENTICATED"]);
});

test("without authenticate, a server listens on loopback only", async () => {
  await using at = await serving({ model: model() });
  const open = createServer({ harness: at.harness });
  await assert.rejects(open.listen({ host: "0.0.0.0" }), { code: "INVALID_CONFIG", message: /authenticate/ });
  await open.close();
});

test("a misspelt option, limit or origin is refused, a value of another type, and a host that no request can have", async () => {
  await using at = await serving({ model: model() });
  const { harness } = at;
  const wrong = [
    { harness, authentificate: authenticate },
    { harness, limits: { streems: 1 } },
    { harness, origins: ["app.example"] },
    ...["https://cinch.example.com", "cinch.example.com/", "*.example.com", "::1", ""].map((host) => ({
      harness,
      hosts: [host],
    })),
    ...["authenticate", "mayAnswer", "log"].map((name) => ({ harness, [name]: 5 })),
    ...["hosts", "origins", "models", "adapters"].map((name) => ({ harness, [name]: "localhost" })),
    {},
  ];
  for (const options of wrong)
    assert.throws(() => createServer(options as unknown as Parameters<typeof createServer>[0]), {
      code: "INVALID_CONFIG",
    });
});

test("no answer holds a token, the instructions or a stack, also when the server fails", async (t) => {
  const printed: string[] = [];
  t.mock.method(console, "error", (line: string) => printed.push(line));
  await using at = await serving({
    model: model(),
    authenticate: (request) => {
      if (request.headers.get("authorization") === "Bearer breaks") throw new Error("secret-cause ann-token");
      return authenticate(request);
    },
  });
  const failed = await at.at.as("breaks").get("/v1/threads");
  assert.deepEqual([failed.status, errorOf(failed).code], [500, "INTERNAL"]);
  const ann = at.at.as("ann-token");
  const { id } = await ann.thread();
  await ann.post(`/v1/threads/${id}/post`, { content: "hello", delivery: "send" });
  await ann.get(`/v1/threads/${id}/settled`);
  const paths = [
    "/v1",
    `/v1/threads/${id}`,
    `/v1/threads/${id}/explainContext`,
    `/v1/threads/${id}/listMessages`,
    "/v1/openapi.json",
    "/v1/nothing",
  ];
  const answers = await Promise.all(paths.map(async (path) => (await ann.get(path)).text));
  const all = [failed.text, ...answers, ...printed].join("\n");
  assert.equal(printed.length, 1);
  assert.doesNotMatch(all, /ann-token|SECRET|secret-cause|\.ts:\d+/);
});
