import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "@cinch/client";
import type { ThreadListChange } from "@cinch/core";
import { createServer, ROLES } from "@cinch/server";
import { say, script } from "@cinch/testkit";
import { serving } from "../../server/test/serving.ts";
import { freePort } from "../../testkit/test/free-port.ts";
import { faulty, isStream } from "./faults.ts";

const nextOf = async (changes: AsyncIterator<ThreadListChange>): Promise<string> => {
  const { value } = (await changes.next()) as IteratorYieldResult<ThreadListChange>;
  return `${value.kind} ${"thread" in value ? value.thread.id : value.threadId}`;
};

test("all readers of the list share one stream, which ends with the last of them", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const streams: AbortSignal[] = [];
  const { fetch, seen } = faulty(({ init, pass }) => {
    if (isStream(init)) streams.push(init.signal!);
    return pass();
  });
  const client = connect({ url: at.url, fetch });
  const readers = await Promise.all([client.followThreads(), client.followThreads()]);
  await at.harness.createThread({ id: "a" });
  assert.deepEqual(await Promise.all(readers.map(nextOf)), ["created a", "created a"]);
  assert.equal(seen.filter((request) => request === "GET events").length, 1);
  await Promise.all(readers.map((reader) => reader.return?.()));
  while (!streams[0]!.aborted) await new Promise((resolve) => setTimeout(resolve, 1));
  const again = await client.followThreads();
  assert.equal(seen.filter((request) => request === "GET events").length, 2);
  const waiting = again.next();
  await client.close();
  assert.equal((await waiting).done, true);
});

test("what happened to the list while the server was away is known after a reconnect", async () => {
  await using at = await serving({ model: script(say("hi")), port: await freePort() });
  const client = connect({ url: at.url });
  for (const id of ["gone", "kept"]) await at.harness.createThread({ id });
  const changes = await client.followThreads();
  await at.server.close({ drainMs: 0 });
  await at.harness.deleteThread({ threadId: "gone" });
  await at.harness.createThread({ id: "new" });
  const again = createServer({ harness: at.harness });
  await again.listen({ port: at.port });
  const got = [await nextOf(changes), await nextOf(changes), await nextOf(changes)];
  assert.deepEqual(got.toSorted(), ["changed kept", "changed new", "deleted gone"]);
  await client.close();
  await again.close({ drainMs: 100 });
});

test("the list is followed also where streams do not arrive", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const { fetch } = faulty(async ({ init, pass }) => {
    const response = await pass();
    if (!isStream(init)) return response;
    await response.body!.cancel();
    return new Response(null, response);
  });
  const client = connect({ url: at.url, fetch });
  const changes = await client.followThreads();
  await at.harness.createThread({ id: "new" });
  assert.equal(await nextOf(changes), "changed new");
  await client.close();
  assert.equal((await changes.next()).done, true);
});

test("a list that the server refused to send is followed again with a token that it knows", async () => {
  const access = { over: new AbortController(), isGiven: true };
  const authenticate = () => (access.isGiven ? { may: ROLES, signal: access.over.signal } : null);
  await using at = await serving({ model: script(say("hi")), authenticate });
  const client = connect({ url: at.url });
  const changes = await client.followThreads();
  access.isGiven = false;
  access.over.abort();
  assert.equal((await changes.next()).done, true);
  await assert.rejects(client.followThreads(), /Send a token/);
  Object.assign(access, { over: new AbortController(), isGiven: true });
  const again = await client.followThreads();
  await at.harness.createThread({ id: "new" });
  assert.equal(await nextOf(again), "created new");
  await client.close();
});

for (const [status, code] of [
  [500, "INTERNAL"],
  [403, "PERMISSION_DENIED"],
] as const)
  test(`a list whose first load is refused with ${status} is loaded for the next follower, also if a thread's stream brings it`, async () => {
    await using at = await serving({ model: script(say("hi")) });
    const { id: threadId } = await at.harness.createThread({ title: "one" });
    let refusals = 1;
    const { fetch } = faulty(async ({ url, pass }) => {
      if (!url.includes("/threads?") || refusals-- <= 0) return pass();
      return Response.json({ error: { code, message: "no" } }, { status, headers: { "cinch-protocol": "1" } });
    });
    const client = connect({ url: at.url, fetch });
    await client.init();
    const [refused] = await Promise.allSettled([client.followThreads(), client.createSession({ threadId })]);
    assert.equal(refused.status, "rejected");
    const changes = await client.followThreads();
    await at.harness.createThread({ id: "new" });
    assert.equal(await nextOf(changes), "created new");
    await client.close();
  });
