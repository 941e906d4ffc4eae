import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { test } from "node:test";
import { defineTool, memoryStore } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import { createServer } from "@cinch/server";
import * as z from "zod";
import { authenticate, serving, type Remote } from "./serving.ts";
import { Watching } from "./feeds/watching.ts";

/** Settles when a request of this caller to the thread is being handled. */
async function isSeated(at: Remote, threadId: string, by: string): Promise<void> {
  const seats = async () => (await at.json<{ seats: string[] }>(`/v1/threads/${threadId}`)).seats;
  while (!(await seats()).includes(by)) await delay(10);
}

test("closing ends the streams with a time to return, finishes what was accepted, and refuses the rest", async () => {
  const opened = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const gate = defineTool({
    description: "Waits",
    input: z.object({}),
    execute: async () => {
      started.resolve();
      await opened.promise;
      return "through";
    },
  });
  await using at = await serving({ model: script(call("gate"), say("done")), tools: { gate }, authenticate });
  const [ann, bob] = [at.at.as("ann-token"), at.at.as("bob-token")];
  const headers = { authorization: "Bearer ann-token" };
  const { id } = await ann.thread();
  const watching = await Watching.open(`${at.url}/v1/threads/${id}/events`, { headers });
  await ann.post(`/v1/threads/${id}/post`, { content: "go", delivery: "send" });
  await started.promise;
  const accepted = bob.get(`/v1/threads/${id}/settled`);
  await isSeated(ann, id, "bob");
  const closed = at.server.close({ drainMs: 20_000 });
  await watching.ended;
  assert.equal(watching.frames.at(-1)!.text, "retry: 1000");
  const health = await at.server.fetch(new Request(`${at.url}/v1/health`));
  assert.deepEqual([health.status, health.headers.get("retry-after")], [503, "1"]);
  const refused = await at.server.fetch(new Request(`${at.url}/v1/threads/${id}`, { headers }));
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [503, "1"]);
  opened.resolve();
  assert.equal((await accepted).status, 200);
  await closed;
  await assert.rejects(at.at.get("/v1/health"));
  const session = await at.harness.createSession({ threadId: id });
  assert.deepEqual(await session.settled(), { status: "idle", pending: [] });
});

test("a server that waits for no more than drainMs closes although a request is not answered", async () => {
  const gate = defineTool({
    description: "Waits",
    input: z.object({}),
    execute: () => new Promise<string>(() => undefined),
  });
  await using at = await serving({ model: script(call("gate")), tools: { gate }, authenticate });
  const [ann, bob] = [at.at.as("ann-token"), at.at.as("bob-token")];
  const { id } = await ann.thread();
  await ann.post(`/v1/threads/${id}/post`, { content: "go", delivery: "send" });
  const unanswered = assert.rejects(bob.get(`/v1/threads/${id}/settled`));
  await isSeated(ann, id, "bob");
  await at.server.close({ drainMs: 50 });
  await unanswered;
});

test("a server closes after drainMs also if its store does not answer", async () => {
  const stuck = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  let isStuck = false;
  const storage = new Proxy(memoryStore(), {
    get: (store, key) => {
      const value: unknown = Reflect.get(store, key, store);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        const work = () => Reflect.apply(value, store, args) as unknown;
        if (!isStuck || String(key).startsWith("follow")) return work();
        asked.resolve();
        return stuck.promise.then(work);
      };
    },
  });
  await using at = await serving({ model: script(say("hi")), harness: { storage } });
  const { id } = await at.at.thread();
  const other = await at.harness.createSession();
  const { id: unopened } = await other.createThread();
  await other.close();
  const watching = await Watching.open(`${at.url}/v1/threads/${id}/events`);
  isStuck = true;
  const unanswered = [
    at.at.post(`/v1/threads/${id}/renameThread`, { title: "x" }),
    at.at.get(`/v1/threads/${unopened}/listInbox`),
    at.at.get(`/v1/threads/${unopened}/events`),
  ].map((answer) => assert.rejects(answer));
  await asked.promise;
  await delay(20);
  await at.server.close({ drainMs: 50 });
  await Promise.all([...unanswered, watching.ended]);
  stuck.resolve();
});

test("a caller has one seat at a thread, and it is closed some time after its last use", async () => {
  await using at = await serving({ model: script(say("hi")), authenticate, limits: { seatMs: 50 } });
  const [ann, bob] = [at.at.as("ann-token"), at.at.as("bob-token")];
  const { id } = await ann.thread();
  const seats = async () => (await bob.json<{ seats: string[] }>(`/v1/threads/${id}`)).seats;
  const watching = await Watching.open(`${at.url}/v1/threads/${id}/events`, {
    headers: { authorization: "Bearer ann-token" },
  });
  await ann.get(`/v1/threads/${id}/listInbox`);
  await delay(150);
  assert.deepEqual(await seats(), ["ann", "bob"]);
  watching.close();
  while ((await seats()).includes("ann")) await delay(10);
  assert.deepEqual(await seats(), ["bob"]);
});

test("two servers on one harness serve the same threads", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const second = createServer({ harness: at.harness });
  const { url } = await second.listen();
  const { id } = await at.at.thread();
  const watching = await Watching.open(`${url}/v1/threads/${id}/events`);
  await at.at.post(`/v1/threads/${id}/renameThread`, { title: "seen by both" });
  await watching.until(({ display }) => display.title === "seen by both");
  await second.close();
  assert.equal((await at.at.get("/v1/health")).status, 200);
});
