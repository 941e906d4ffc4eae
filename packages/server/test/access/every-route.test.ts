import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool, type ThreadRecord } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import { bearerTokens, ROLES, tokenHash } from "@cinch/server";
import * as z from "zod";
import type { Route } from "../../src/routes/route.ts";
import { routeTable } from "../../src/routes/table.ts";
import { errorOf, people, serving, type Remote } from "../serving.ts";
import { exampleBody, examplePath, sendExample } from "./example-requests.ts";
import { raw, statusesOf } from "./raw-socket.ts";

const write = defineTool({
  description: "Writes",
  category: "edit",
  input: z.object({}),
  execute: () => "written",
});
/** One caller for each role, and no other, beside the people. */
const oneRole = ROLES.map((role) => ({
  sha256: tokenHash(`${role}-only`),
  resourceId: "team",
  by: `only-${role}`,
  may: [role],
}));
const authenticate = bearerTokens(() => [...people, ...oneRole]);
const serve = () =>
  serving({
    model: script(call("write"), say("done")),
    tools: { write },
    harness: { permissions: [{ category: "edit", policy: "ask" }] },
    authenticate,
    limits: { requestsPerSecond: 10_000 },
  });

/** A thread in which every command would change something: a call waits for an approval, and an input is queued. */
async function waitingThread(as: Remote, id: string): Promise<ThreadRecord> {
  const thread = await as.thread({ id, title: "as it was" });
  await as.post(`/v1/threads/${id}/post`, { content: "go", delivery: "send" });
  await as.post(`/v1/threads/${id}/followUp`, { content: "later", id: "queued" });
  await as.json(`/v1/threads/${id}/settled`);
  assert.equal((await as.json<unknown[]>("/v1/pending")).length, 1);
  return thread;
}

/** Everything that the caller's resource has on record. */
async function recordOf(as: Remote): Promise<string[]> {
  const threads = await as.json<ThreadRecord[]>("/v1/threads");
  const journals = await Promise.all(
    threads.map(async ({ id }) => (await as.get(`/v1/threads/${id}/listEvents?limit=1000`)).text),
  );
  return [JSON.stringify(threads), (await as.get("/v1/pending")).text, ...journals];
}

const titleOf = ({ method, path }: Route) => `${method} ${path}`;
const needing = (isNeeded: (route: Route) => boolean): readonly Route[] => routeTable.filter(isNeeded);

/** A client of another protocol asks for a thread before its first message: there is nothing in it. */
const NOT_THERE: Record<string, [status: number, text: string]> = {
  "GET /v1/chat/:threadId/stream": [204, ""],
  "GET /v1/chat/:threadId/messages": [200, "[]"],
};

test("a thread of another resource is, byte for byte, a thread that is not there, for every route", async () => {
  await using at = await serve();
  const [ann, cat] = [at.at.as("ann-token"), at.at.as("cat-token")];
  const hers = await waitingThread(cat, "her-thread");
  const before = await recordOf(cat);
  const routes = needing(({ path }) => path.includes(":threadId"));
  assert.ok(routes.length > 25);
  for (const route of routes) {
    const answers = [];
    for (const id of [hers.id, "no--thread"]) {
      const { status, text, headers } = await sendExample(ann, route, id);
      const { date: _, "x-request-id": __, ...rest } = headers;
      answers.push({ status, text: text.replaceAll(id, "ID"), rest });
    }
    const { status, text } = answers[0]!;
    assert.deepEqual([status, status === 404 ? "" : text], NOT_THERE[titleOf(route)] ?? [404, ""], titleOf(route));
    assert.deepEqual(answers[0], answers[1]);
  }
  assert.deepEqual(await recordOf(cat), before);
});

test("the id of another resource's thread in a query or a body is, byte for byte, an id that is not there", async () => {
  await using at = await serve();
  const [ann, cat] = [at.at.as("ann-token"), at.at.as("cat-token")];
  const hers = await waitingThread(cat, "her-thread");
  const mine = await waitingThread(ann, "my-thread");
  const before = [await recordOf(ann), await recordOf(cat)];
  const [pending] = await cat.json<{ toolCallId: string; digest: string }[]>("/v1/pending");
  const { toolCallId, digest } = pending!;
  const path = `/v1/threads/${mine.id}`;
  const tries: ((id: string) => ReturnType<Remote["get"]>)[] = [
    (id) => ann.get(`/v1/threads?before=${id}`),
    (id) => ann.get(`/v1/threads?parentId=${id}`),
    (threadId) => ann.post(`${path}/respondToToolApproval`, { decision: "approve", threadId }),
    (threadId) => ann.post(`${path}/respondToToolApproval`, { decision: "approve", threadId, toolCallId, digest }),
    (threadId) => ann.post(`${path}/respondToToolSuspension`, { resumeData: null, threadId }),
  ];
  for (const send of tries) {
    const answers = await Promise.all(
      [hers.id, "no--thread"].map(async (id) => {
        const { status, text } = await send(id);
        return { status, text: text.replaceAll(id, "ID") };
      }),
    );
    assert.deepEqual(answers[0], answers[1], String(send));
  }
  assert.deepEqual([await recordOf(ann), await recordOf(cat)], before);
});

/** Ways to write `my-thread`, or a path that leads to it, which another program might understand. */
const PATH_TRICKS = [
  "my%2dthread",
  "%6dy-thread",
  "my-thread%00",
  "my-thread%00.json",
  "my-thread%2f",
  "my-thread%2f..%2fmy-thread",
  "..%2fthreads%2fmy-thread",
  "%2e%2e%2fmy-thread",
  "%252e%252e%252fmy-thread",
  "..%5cmy-thread",
  "%c0%ae%c0%ae%c0%afmy-thread",
  "%u006dy-thread",
  "my-thread%20",
  "%20my-thread",
  "my-thread%0d%0ax-a:%201",
  "my-thread;a=b",
  "my-thread.json",
  "my-thread,other",
  "my-thread*",
  "(my-thread)",
  ":threadId",
  "m\u00fd-thread",
  "my\u2010thread",
  "%ff",
  "%",
  "%zz",
  "x".repeat(129),
  "x".repeat(10_000),
];

test("an id in a path is not decoded, so no other way of writing it reaches a thread", async () => {
  await using at = await serve();
  const ann = at.at.as("ann-token");
  await waitingThread(ann, "my-thread");
  const before = await recordOf(ann);
  for (const route of needing(({ path }) => path.includes(":threadId")))
    for (const trick of PATH_TRICKS) {
      // As bytes: a client would encode, or refuse, some of them.
      const bytes = Buffer.from(trick, "utf8").toString("latin1");
      const body = JSON.stringify(exampleBody(route));
      const request = [
        `${route.method} ${examplePath(route, bytes)} HTTP/1.1`,
        "Host: localhost",
        "Authorization: Bearer ann-token",
        "Content-Type: application/json",
        `Content-Length: ${body.length}`,
        "Connection: close",
      ];
      const [status] = statusesOf(await raw(at.port, `${request.join("\r\n")}\r\n\r\n${body}`));
      assert.equal(status, 400, `${titleOf(route)} ${trick}`);
    }
  assert.deepEqual(await recordOf(ann), before);
});

for (const role of ROLES)
  test(`a token that has only the role "${role}" gets 403 from every route of another role, and nothing is written`, async () => {
    await using at = await serve();
    const ann = at.at.as("ann-token");
    const thief = at.at.as(`${role}-only`);
    const { id } = await waitingThread(ann, "my-thread");
    const before = await recordOf(ann);
    for (const route of needing(({ may, orMay }) => may !== role && orMay !== role && may !== null)) {
      const { status, text } = await sendExample(thief, route, id);
      assert.equal(status, 403, `${titleOf(route)} needs ${route.may}: ${text}`);
      // A body that would be refused is not read first.
      if (route.method !== "POST") continue;
      const plain = thief.with({ "content-type": "text/plain" });
      assert.equal((await plain.send("POST", route.path.replace(":threadId", id), "{")).status, 403);
    }
    assert.deepEqual(await recordOf(ann), before);
  });

test("a token that may approve can't approve for later calls", async () => {
  await using at = await serve();
  const ann = at.at.as("ann-token");
  const { id } = await waitingThread(ann, "my-thread");
  const before = await recordOf(ann);
  for (const decision of ["always_allow_tool", "always_allow_category"]) {
    const { status } = await at.at.as("approve-only").post(`/v1/threads/${id}/respondToToolApproval`, { decision });
    assert.equal(status, 403, decision);
  }
  assert.deepEqual(await recordOf(ann), before);
});

test("every command of these examples is one that a caller with its role can give", async () => {
  await using at = await serve();
  for (const [n, route] of needing(({ method }) => method !== "GET").entries()) {
    const ann = at.at.as("ann-token");
    const { id } = await waitingThread(ann, `thread-${n}`);
    const answer = await sendExample(ann, route, id);
    const { status, text } = answer;
    // Nothing asks a question, no turn has failed, and there is no memory: such a command is understood, and refused for that alone.
    const isUnderstood = status < 300 || [409, 501].includes(status) || (status === 400 && !errorOf(answer).field);
    assert.ok(isUnderstood, `${titleOf(route)}: ${status} ${text}`);
    await ann.send("DELETE", `/v1/threads/${id}`);
  }
});
