import assert from "node:assert/strict";
import { test } from "node:test";
import { say, script } from "@cinch/testkit";
import { errorOf, serving, type Answer } from "../serving.ts";

const model = () => script(say("hi"));
const JSON_TYPE = { "content-type": "application/json" };

const summary = (answer: Answer): [number, string, string | undefined] => {
  const { code, field } = errorOf(answer);
  return [answer.status, code, field];
};

test("a body that is not JSON, or has another type, is refused", async () => {
  await using at = await serving({ model: model() });
  const json = at.at.with(JSON_TYPE);
  assert.deepEqual(summary(await json.send("POST", "/v1/threads", "{")), [400, "INVALID_INPUT", undefined]);
  assert.deepEqual(summary(await json.send("POST", "/v1/threads", "[]")), [400, "INVALID_INPUT", undefined]);
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "text/plain; application/json",
    "application/jsonx",
    "multipart/form-data; boundary=x",
  ])
    assert.equal((await at.at.with({ "content-type": type }).send("POST", "/v1/threads", "{}")).status, 415, type);
  assert.equal((await at.at.send("POST", "/v1/threads", "{}")).status, 415);
});

test("an unknown key, a wrong value and a wrong id are named", async () => {
  await using at = await serving({ model: model() });
  const { id } = await at.at.thread();
  const steer = (body: unknown) => at.at.post(`/v1/threads/${id}/steer`, body);
  assert.deepEqual(summary(await steer({ content: "x", contents: "y" })), [400, "INVALID_INPUT", "contents"]);
  assert.deepEqual(summary(await steer({ content: 7 })), [400, "INVALID_INPUT", "content"]);
  assert.deepEqual(summary(await steer({ content: "x", id: "../up" })), [400, "INVALID_INPUT", "id"]);
  assert.deepEqual(
    summary(await steer({ content: "x", files: [{ mediaType: "image/png", url: "file:///etc/passwd" }] })).slice(0, 2),
    [400, "INVALID_INPUT"],
  );
  assert.deepEqual(summary(await at.at.post("/v1/threads", { id: "a b" })), [400, "INVALID_INPUT", "id"]);
  assert.deepEqual(summary(await at.at.get(`/v1/threads/${id}/listMessages?limit=0`)), [400, "INVALID_INPUT", "limit"]);
  assert.deepEqual(summary(await at.at.get(`/v1/threads/${id}/listMessages?limitt=1`)), [
    400,
    "INVALID_INPUT",
    "limitt",
  ]);
  assert.deepEqual(summary(await at.at.get(`/v1/threads/${id}/listInbox?x=1`)), [400, "INVALID_INPUT", "x"]);
});

test("a file by a URL that can't be read is refused, and named", async () => {
  await using at = await serving({ model: model() });
  const { id } = await at.at.thread();
  for (const url of ["https://[", "https://a:99999/", "https://%", "http://a.example/", "https://a b"]) {
    const files = [{ mediaType: "image/png", url }];
    const refused = await at.at.post(`/v1/threads/${id}/steer`, { content: "x", files });
    assert.deepEqual(summary(refused), [400, "INVALID_INPUT", "files.0.url"], url);
  }
});

test("a mode, a model, an input and a time that the thread can't take are named", async () => {
  await using at = await serving({ model: model() });
  const { id } = await at.at.thread();
  const post = (name: string, body: unknown) => at.at.post(`/v1/threads/${id}/${name}`, body);
  assert.deepEqual(summary(await post("switchMode", { modeId: "none" })), [400, "UNKNOWN_MODE", "modeId"]);
  assert.deepEqual(summary(await post("switchModel", { modelId: "none" })), [400, "INVALID_INPUT", "modelId"]);
  assert.deepEqual(summary(await at.at.get(`/v1/threads/${id}/resultOf?inputId=none`)), [
    400,
    "INVALID_INPUT",
    "inputId",
  ]);
  assert.deepEqual(summary(await post("post", { content: "x", delivery: "send", at: 1 })), [
    400,
    "INVALID_INPUT",
    "at",
  ]);
  const keyed = await at.at.with({ "idempotency-key": "a b" }).post(`/v1/threads/${id}/abort`);
  assert.deepEqual(summary(keyed), [400, "INVALID_INPUT", "Idempotency-Key"]);
});

test("ids in paths are letters, digits, _ and -", async () => {
  await using at = await serving({ model: model() });
  for (const id of ["a.b", "%2e%2e%2fetc", "a%00b", "é", "a%20b", "x".repeat(129), "%ff", "a;b", "__proto__%00"]) {
    const path = `/v1/threads/${encodeURI(decodeSafely(id))}`;
    const { status } = await at.at.get(path);
    assert.ok(status === 400 || status === 404, `${id}: ${status}`);
  }
  assert.equal((await at.at.get(`/v1/threads/${"x".repeat(129)}`)).status, 400);
  assert.equal((await at.at.get("/v1/threads/a.b")).status, 400);
  assert.equal((await at.at.get("/v1/threads/__proto__")).status, 404);
  assert.equal((await at.at.get("/v1/threads/constructor")).status, 404);
});

const decodeSafely = (text: string): string => text.replaceAll("%00", "\u0001");

test("a body that is too large is refused, whether it says its length or not", async () => {
  await using at = await serving({ model: model(), limits: { bodyBytes: 1_000 } });
  const large = JSON.stringify({ title: "x".repeat(2_000) });
  assert.equal((await at.at.with(JSON_TYPE).send("POST", "/v1/threads", large)).status, 413);
  const stream = new ReadableStream({
    pull: (controller) => controller.enqueue(new TextEncoder().encode('{"title":"'.padEnd(300, "x"))),
  });
  const response = await fetch(`${at.url}/v1/threads`, {
    method: "POST",
    headers: JSON_TYPE,
    body: stream,
    duplex: "half",
  } as RequestInit);
  assert.equal(response.status, 413);
  assert.deepEqual(await at.at.json("/v1/threads"), []);
});

test("100,000 nested arrays and prototype keys are refused, and the server goes on", async () => {
  await using at = await serving({ model: model() });
  const { id } = await at.at.thread();
  const path = `/v1/threads/${id}/setState`;
  const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  assert.deepEqual(summary(await at.at.with(JSON_TYPE).send("POST", path, deep)), [400, "INVALID_INPUT", "a"]);
  const proto = '{"a":{"__proto__":{"polluted":true}}}';
  assert.deepEqual(summary(await at.at.with(JSON_TYPE).send("POST", path, proto)), [
    400,
    "INVALID_INPUT",
    "a.__proto__",
  ]);
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  assert.equal((await at.at.get("/v1/health")).status, 200);
});

test("a caller that makes too many requests gets 429, and others do not", async () => {
  await using at = await serving({
    model: model(),
    limits: { requestsPerSecond: 1 },
    authenticate: (request) => ({ by: request.headers.get("x-name") ?? "one", may: ["read"] }),
  });
  const statuses: number[] = [];
  for (let n = 0; n < 10; n++) statuses.push((await at.at.get("/v1/threads")).status);
  assert.ok(statuses.includes(429));
  assert.equal((await at.at.with({ "x-name": "two" }).get("/v1/threads")).status, 200);
});
