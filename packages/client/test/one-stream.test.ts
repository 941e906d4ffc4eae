import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "@cinch/client";
import type { ThreadListChange } from "@cinch/core";
import { createServer } from "@cinch/server";
import { say, script } from "@cinch/testkit";
import { serving } from "../../server/test/serving.ts";
import { freePort } from "../../testkit/test/free-port.ts";

/** A fetch that knows which streams are open, and can cut them. */
function countedFetch() {
  const open = new Set<string>();
  let uncut = new AbortController();
  let most = 0;
  const counted = async (url: string, init: RequestInit) => {
    const { accept } = init.headers as Record<string, string>;
    const path = new URL(url).pathname;
    if (accept === "text/event-stream") {
      open.add(path);
      most = Math.max(most, open.size);
      init.signal?.addEventListener("abort", () => open.delete(path));
      return fetch(url, { ...init, signal: AbortSignal.any([uncut.signal, init.signal!]) });
    }
    return fetch(url, init);
  };
  const cutAll = () => {
    uncut.abort();
    uncut = new AbortController();
  };
  return { counted, open, most: () => most, cutAll };
}

async function until(changes: AsyncIterableIterator<ThreadListChange>, title: string): Promise<void> {
  for (;;) {
    const { value, done } = await changes.next();
    assert.ok(!done, `The changes ended before "${title}".`);
    if ("thread" in value && value.thread.title === title) return;
  }
}

test("a client has one stream: that of its thread brings the list, and without a thread the list has its own", async () => {
  await using at = await serving({ model: script(say("hello")) });
  const other = await at.harness.createSession();
  await other.createThread({ title: "First" });
  const threadId = other.getCurrentThreadId()!;
  const { counted, open, most } = countedFetch();
  const client = connect({ url: at.url, fetch: counted });
  const [threads, pending] = await Promise.all([client.followThreads(), client.followThreads()]);
  assert.deepEqual([...open], ["/v1/events"]);

  const session = await client.createSession({ threadId });
  assert.deepEqual([...open], [`/v1/threads/${threadId}/events`]);
  await other.renameThread({ title: "Named" });
  await Promise.all([until(threads, "Named"), until(pending, "Named")]);

  const next = await session.createThread({ title: "Second" });
  await other.renameThread({ title: "Named again" });
  await Promise.all([until(threads, "Named again"), until(pending, "Named again")]);
  assert.deepEqual([...open], [`/v1/threads/${next.id}/events`]);

  await session.close();
  await other.renameThread({ title: "Without a session" });
  await Promise.all([until(threads, "Without a session"), until(pending, "Without a session")]);
  assert.deepEqual([...open], ["/v1/events"]);
  assert.ok(most() <= 2, "only a change of threads overlaps");
  await Promise.all([threads.return?.(), pending.return?.()]);
  while (open.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await client.close();
});

test("a list that is followed again has a stream, although that of the thread has reconnected without it meanwhile", async () => {
  await using at = await serving({ model: script(say("hello")) });
  const { counted, open, cutAll } = countedFetch();
  const client = connect({ url: at.url, fetch: counted });
  const first = await client.followThreads();
  const { id: threadId } = await client.createThread();
  while (!open.has(`/v1/threads/${threadId}/events`) || open.size > 1)
    await new Promise((resolve) => setTimeout(resolve, 5));
  await first.return?.();
  cutAll();
  while (open.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const other = await at.harness.createSession({ threadId });
  await other.renameThread({ title: "Reconnected" });
  while (client.getDisplayState().title !== "Reconnected") await new Promise((resolve) => setTimeout(resolve, 5));
  const second = await client.followThreads();
  await other.renameThread({ title: "Meanwhile" });
  await until(second, "Meanwhile");
  assert.ok(open.has("/v1/events"));
  await client.close();
});

test("a client says that its server is gone, and that it is back", async () => {
  await using at = await serving({ model: script(say("hello")), port: await freePort() });
  const client = connect({ url: at.url });
  await client.createThread();
  const states: string[] = [];
  const stop = client.onConnection((state) => states.push(state));
  assert.equal(client.connection, "online");
  await at.server.close({ drainMs: 0 });
  while (client.connection === "online") await new Promise((resolve) => setTimeout(resolve, 5));
  const again = createServer({ harness: at.harness });
  await again.listen({ port: at.port });
  while (client.connection === "offline") await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(states, ["offline", "online"]);
  stop();
  await client.close();
  await again.close({ drainMs: 100 });
});
