import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool } from "@cinch/core";
import { call, say, scriptedBy } from "@cinch/testkit";
import * as z from "zod";
import { openApiOf } from "../../src/routes/openapi.ts";
import { routePattern, type Route } from "../../src/routes/route.ts";
import { routeTable } from "../../src/routes/table.ts";
import { exampleBody, examplePath } from "../access/example-requests.ts";
import { serving } from "../serving.ts";

interface Operation {
  operationId: string;
  parameters: { name: string; in: string; required?: boolean; schema: Record<string, unknown> }[];
  requestBody?: {
    content: Record<string, { schema: { properties: Record<string, unknown>; additionalProperties: boolean } }>;
  };
  responses: Record<string, { content?: Record<string, unknown> }>;
}
interface Document {
  openapi: string;
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
}

const documentOf = (table: readonly Route[]) => JSON.parse(JSON.stringify(openApiOf(table))) as Document;
const document = documentOf(routeTable);
const operationOf = (route: Route): Operation => document.paths[routePattern(route)]![route.method.toLowerCase()]!;

const write = defineTool({ description: "Writes", category: "edit", input: z.object({}), execute: () => "written" });
const model = scriptedBy(({ prompt }) => (prompt.at(-1)?.role === "user" ? call("write") : say("done")));
const serve = () =>
  serving({
    model,
    tools: { write },
    harness: { permissions: [{ category: "edit", policy: "ask" }], resolveModel: () => model },
    limits: { requestsPerSecond: 10_000 },
  });

test("the OpenAPI document has every route, with the fields of its body", async () => {
  await using at = await serve();
  assert.deepEqual(await at.at.json("/v1/openapi.json"), document);
  assert.equal(document.openapi, "3.1.0");
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  assert.equal(operations.length, routeTable.length);
  assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length);
  const steer = document.paths["/v1/threads/{threadId}/steer"]!["post"]!;
  const { schema } = steer.requestBody!.content["application/json"]!;
  assert.deepEqual(Object.keys(schema.properties), ["content", "id", "files"]);
  assert.equal(schema.additionalProperties, false);
});

test("a query has numbers with their limits, and says which fields it needs", () => {
  const { parameters } = document.paths["/v1/threads/{threadId}/resultOf"]!["get"]!;
  assert.deepEqual(
    parameters.filter((one) => one.in === "query"),
    [
      { name: "inputId", in: "query", required: true, schema: { type: "string", minLength: 1 } },
      { name: "wait", in: "query", required: false, schema: { type: "integer", minimum: 0, maximum: 25 } },
    ],
  );
});

test("the paths of the document are found below the prefix where it was found", () => {
  const at = new URL(document.servers[0]!.url, "http://localhost/some/prefix/v1/openapi.json");
  assert.equal(at.pathname.replace(/\/$/, "") + "/v1/health", "/some/prefix/v1/health");
});

/** Of the examples, these fail: what they need is not there. */
const FAIL: Record<string, number> = {
  resultOf: 400,
  ":hash": 404,
  diff: 400,
  compact: 501,
  retry: 400,
  respondToToolSuspension: 409,
};

test("every route answers with a status and a type that the document has", async () => {
  await using at = await serve();
  for (const [n, route] of routeTable.entries()) {
    const threadId = `thread-${n}`;
    await at.at.thread({ id: threadId });
    await at.at.post(`/v1/threads/${threadId}/post`, { content: "go", delivery: "send" });
    await at.at.post(`/v1/threads/${threadId}/followUp`, { content: "later", id: "queued" });
    await at.at.json(`/v1/threads/${threadId}/settled`);
    const { method } = route;
    const headers = { "content-type": "application/json" };
    const sent = method === "POST" ? { body: JSON.stringify(exampleBody(route, threadId)), headers } : {};
    const response = await fetch(at.url + examplePath(route, threadId), { method, ...sent });
    const [type] = (response.headers.get("content-type") ?? "").split(";");
    await response.body?.cancel();
    const title = `${method} ${route.path}: ${response.status} ${type}`;
    const expected = FAIL[route.path.split("/").at(-1)!];
    const { responses } = operationOf(route);
    const { content } = responses[expected === undefined ? response.status : "default"] ?? assert.fail(title);
    if (expected !== undefined) assert.equal(response.status, expected, title);
    if (type === "") assert.equal(content, undefined, title);
    else assert.ok(content?.[type!], title);
  }
});
