import assert from "node:assert/strict";
import { test } from "node:test";
import { say, script } from "@cinch/testkit";
import type { SessionMethod } from "../../src/routes/route.ts";
import { routeTable } from "../../src/routes/table.ts";
import { serving } from "../serving.ts";

/** Methods without a route, and why. */
const LOCAL: Partial<Record<SessionMethod, string>> = {
  sendMessage: "post and resultOf",
  subscribe: "events",
  getTokenUsage: "the display",
  getCurrentThreadId: "the path names the thread",
  getCurrentModeId: "the snapshot",
  getCurrentModelId: "the snapshot",
  getSessionGrants: "the snapshot",
  getPermissionRules: "the snapshot",
  getState: "the snapshot",
  selectOrCreateThread: "listThreads and createThread",
  once: "the header Idempotency-Key",
  push: "of the harness",
  abandon: "of the harness",
  close: "a client closes its streams",
};

test("every method of a session has a route, or a reason why not", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const session = await at.harness.createSession();
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(session)).filter((name) => name !== "constructor");
  const served = routeTable.flatMap(({ serves }) => serves ?? []);
  const missing = names.filter((name) => !served.includes(name as SessionMethod) && !Object.hasOwn(LOCAL, name));
  assert.deepEqual(missing, []);
  const both = served.filter((name) => Object.hasOwn(LOCAL, name));
  assert.deepEqual(both, []);
});

test("no two routes have the same method and path, and each has a role or is open on purpose", () => {
  const keys = routeTable.map(({ method, path }) => `${method} ${path}`);
  assert.equal(new Set(keys).size, keys.length);
  assert.deepEqual(
    routeTable.filter(({ may }) => may === null).map(({ path }) => path),
    ["/", "/v1/health"],
  );
  const changes = routeTable.filter(({ method }) => method !== "GET");
  assert.deepEqual(
    changes.filter(({ may }) => may === "read" || may === null),
    [],
  );
});
