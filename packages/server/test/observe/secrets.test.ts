import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Agent, Harness, memoryStore, type Store } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import { bearerTokens, createServer, ROLES, tokenHash } from "@cinch/server";
import type { Route } from "../../src/routes/route.ts";
import { routeTable } from "../../src/routes/table.ts";
import { exampleBody } from "../access/example-requests.ts";

const TOKEN = "tok-4f1a9c0e";
const KEY = "sk-config-77d1";
const PROMPT = "SYSTEM-PROMPT-5512";
/** What callers write into every place where they can write. The log must not repeat it. */
const PLANTED = "PLANTED-0b6d";
const STACK = /\n\s+at |\.[cm]?[jt]s:\d+|node:internal/;

/** A store that fails when `fails` says so, with a message that has all secrets. */
function leakyStore(fails: () => boolean): Store {
  const leak = () => Object.assign(new Error(`${TOKEN} ${KEY} ${PROMPT} ${PLANTED}`), { code: `${KEY} ${PLANTED}` });
  return new Proxy(memoryStore(), {
    get(store, name) {
      const value: unknown = Reflect.get(store, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (fails() && name !== "close") throw leak();
        return value.apply(store, args);
      };
    },
  });
}

interface Attempt {
  route: Route;
  places: readonly Place[];
  body: unknown;
  fails: boolean;
}

const PLACES = ["id", "queryValue", "queryKey", "headers", "method", "below", "token", "media", "origin"] as const;
type Place = (typeof PLACES)[number];

const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>(PLANTED, null, 7, true, "approve", "send"),
    fc.dictionary(fc.constantFrom(PLANTED, "content", "toolName", "metadata", "title"), tie("value"), { maxKeys: 3 }),
    fc.array(tie("value"), { maxLength: 2 }),
  ),
})).value;

const attempts: fc.Arbitrary<Attempt> = fc.constantFrom(...routeTable).chain((route) =>
  fc.record({
    route: fc.constant(route),
    places: fc.subarray([...PLACES]),
    body: fc.oneof(fc.constant(planted(exampleBody(route))), json),
    fails: fc.boolean(),
  }),
);

/** An accepted body whose texts are planted, where any text is accepted. */
const planted = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body).replaceAll(/"(content|title|message|toolName)":"[^"]*"/g, `"$1":"${PLANTED}"`));

function requestOf({ route, places, body }: Attempt, { threadId, signal }: { threadId: string; signal: AbortSignal }) {
  const has = (place: Place) => places.includes(place);
  const path = route.path
    .replace(":threadId", has("id") ? `${PLANTED} x` : threadId)
    .replace(":hash", has("id") ? PLANTED : "0".repeat(64));
  const url = new URL(`http://localhost${path}${has("below") ? `/${PLANTED}.x` : ""}`);
  if (has("queryValue")) url.searchParams.set("query", PLANTED);
  if (has("queryKey")) url.searchParams.set(PLANTED, TOKEN);
  if (route.path.endsWith("settled") || route.path.endsWith("resultOf")) url.searchParams.set("wait", "0");
  if (route.path.endsWith("resultOf")) url.searchParams.set("inputId", PLANTED);
  const headers = new Headers({
    authorization: `Bearer ${has("token") ? PLANTED : TOKEN}`,
    "content-type": has("media") ? `text/${PLANTED}` : "application/json",
  });
  if (has("headers"))
    for (const name of ["x-request-id", "cookie", "idempotency-key", "last-event-id", "if-none-match", "user-agent"])
      headers.set(name, PLANTED);
  if (has("origin")) headers.set("origin", `https://${PLANTED}.example`);
  const method = has("method") ? PLANTED : route.method;
  const sent = method === "GET" ? {} : { body: JSON.stringify(body) ?? "" };
  return new Request(url, { method, headers, signal, ...sent });
}

/** A stream never ends by itself: its beginning is enough. */
async function textOf(response: Response, stop: AbortController): Promise<string> {
  const head = JSON.stringify([...response.headers]);
  if (response.headers.get("content-type") !== "text/event-stream") return head + (await response.text());
  const reader = response.body!.getReader();
  const { value } = await reader.read();
  stop.abort();
  await reader.cancel();
  return head + new TextDecoder().decode(value);
}

test("no answer has a token, a key, the system prompt or a stack, and no line of the log what callers wrote", async () => {
  let isFailing = false;
  const model = Object.assign(script(...Array.from({ length: 400 }, () => [call("nothing"), say("hi")]).flat()), {
    apiKey: KEY,
  });
  const harness = new Harness({
    id: "secrets",
    agent: new Agent({ name: "tester", model, instructions: PROMPT }),
    storage: leakyStore(() => isFailing),
  });
  await harness.init();
  const holder = { sha256: tokenHash(TOKEN), by: "ann", may: ROLES };
  const lines: string[] = [];
  const server = createServer({
    harness,
    authenticate: bearerTokens(() => [holder]),
    limits: { requestsPerSecond: 1e6, streams: 1e6 },
    log: (line) => lines.push(JSON.stringify(line)),
  });
  const statuses = new Set<number>();
  try {
    await fc.assert(
      fc.asyncProperty(attempts, async (attempt) => {
        const session = await harness.createSession();
        const { id: threadId } = await session.createThread();
        await session.close();
        const stop = new AbortController();
        const request = requestOf(attempt, { threadId, signal: stop.signal });
        isFailing = attempt.fails;
        const before = lines.length;
        const response = await server.fetch(request).finally(() => (isFailing = false));
        const text = await textOf(response, stop);
        statuses.add(response.status);
        assert.ok(lines.length > before, "There must be a line for each request.");
        const log = lines.slice(before).join("\n");
        for (const secret of [TOKEN, KEY, PROMPT]) {
          assert.ok(!text.includes(secret), `The answer has ${secret}: ${text}`);
          assert.ok(!log.includes(secret), `The log has ${secret}: ${log}`);
        }
        assert.ok(!log.includes(PLANTED), `The log has what a caller wrote: ${log}`);
        assert.doesNotMatch(text, STACK);
        assert.doesNotMatch(log, STACK);
      }),
      { numRuns: 600 },
    );
  } finally {
    await server.close({ drainMs: 100 });
    await harness.close({ drainMs: 0 });
  }
  // Otherwise the requests did not get far enough to show anything.
  for (const status of [200, 400, 401, 403, 404, 500]) assert.ok(statuses.has(status), `No answer was ${status}.`);
});
