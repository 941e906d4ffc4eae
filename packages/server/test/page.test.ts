import assert from "node:assert/strict";
import { test } from "node:test";
import { say, script } from "@cinch/testkit";
import type { Page } from "@cinch/server";
import { authenticate, serving } from "./serving.ts";

const text = "<!doctype html><title>Page</title>";
const page: Page = new Map([
  ["/", { bytes: new TextEncoder().encode(text), mediaType: "text/html" }],
  ["/app-12345678.js", { bytes: new TextEncoder().encode("1"), mediaType: "text/javascript", immutable: true }],
]);

test("the page needs no token, runs nothing but its own files, and stands in no frame", async () => {
  await using at = await serving({ model: script(say("hi")), authenticate, page });
  const { status, headers, text: body } = await at.at.get("/");
  assert.deepEqual([status, body, headers["content-type"]], [200, text, "text/html"]);
  const policy = headers["content-security-policy"] as string;
  for (const rule of ["default-src 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"])
    assert.ok(policy.includes(rule), rule);
  assert.doesNotMatch(policy, /unsafe|\*/);
  assert.equal(headers["cache-control"], "no-cache");
  assert.match((await at.at.get("/app-12345678.js")).headers["cache-control"]!, /immutable/);
  assert.equal((await at.at.get("/v1/threads")).status, 401);
  assert.equal((await at.at.get("/app.js")).status, 401);
});

test("a link on another site leads to the page, but another host does not", async () => {
  await using at = await serving({ model: script(say("hi")), authenticate, page });
  assert.equal((await at.at.with({ "sec-fetch-site": "cross-site" }).get("/")).status, 200);
  assert.equal((await at.at.with({ host: "evil.example" }).get("/")).status, 403);
  assert.equal((await at.at.post("/")).status, 405);
});

test("the page is compressed for those that take it", async () => {
  await using at = await serving({ model: script(say("hi")), page });
  const answer = await fetch(`${at.url}/`, { headers: { "accept-encoding": "gzip" } });
  assert.equal(answer.headers.get("content-encoding"), "gzip");
  assert.equal(await answer.text(), text);
  const plain = await at.at.with({ "accept-encoding": "identity" }).get("/");
  assert.deepEqual([plain.headers["content-encoding"], plain.text], [undefined, text]);
});
