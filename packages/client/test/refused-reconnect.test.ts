import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, type ConnectOptions } from "@cinch/client";
import type { ThreadListChange } from "@cinch/core";
import { say, script } from "@cinch/testkit";
import { serving } from "../../server/test/serving.ts";
import { faulty, isStream } from "./faults.ts";
import { refusal, refusing } from "./refused-streams.ts";

const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
};

/** As something between client and server answers. */
const page = (status: number) =>
  new Response("<h1>Hello from the proxy</h1>", { status, headers: { "content-type": "text/html" } });

const token = () => "t";
const cases: [name: string, answer: () => Response, options: Partial<ConnectOptions>][] = [
  ["the server fails", () => refusal(500, "INTERNAL"), {}],
  ["the server does not know the token of a function", () => refusal(401, "UNAUTHENTICATED"), { token }],
  ["a proxy says that there are too many requests", () => page(429), {}],
  ["a proxy does not find the server", () => page(404), {}],
  ["a proxy shows a page of its own", () => page(200), {}],
  ["a proxy fails", () => page(500), {}],
  ["a proxy refuses it", () => page(403), {}],
  ["a proxy does not know the token of a function", () => page(401), { token }],
];
for (const [name, answer, options] of cases)
  test(`a stream that was connected is tried again if ${name}`, async () => {
    await using at = await serving({ model: script(say("hi")) });
    const { fetch, at: state, refuse } = refusing();
    const client = connect({ url: at.url, fetch, ...options });
    const { id: threadId } = await client.createThread();
    const there = await at.harness.createSession({ threadId });
    refuse(answer);
    await until(() => state.refused >= 2);
    state.answer = undefined;
    await there.renameThread({ title: "Again" });
    await until(() => client.getDisplayState().title === "Again");
    await until(() => client.connection === "online");
    await client.close();
  });

test("an answer of a proxy is an error before the server was reached, and afterwards a command is sent again", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const { fetch, at: state } = refusing();
  Object.assign(state, { answer: () => page(404), isForAll: true });
  const client = connect({ url: at.url, fetch });
  await assert.rejects(client.init(), { code: "INVALID_CONFIG", message: /is no Cinch server/ });
  state.answer = undefined;
  await client.createThread();
  state.answer = () => page(404);
  const renamed = client.renameThread({ title: "Later" });
  await until(() => state.refused >= 2);
  assert.equal(client.connection, "offline");
  state.answer = undefined;
  await renamed;
  await client.renameThread({ title: "Now" });
  assert.equal(client.connection, "online");
  await client.close();
});

for (const [status, problem] of [
  [413, /body is too large\. Send less/],
  [414, /address or headers are too large\. Use a shorter query/],
  [431, /address or headers are too large\. Use a shorter query/],
] as const)
  test(`a request that is too large for a proxy, which answers ${status}, is refused at once`, async () => {
    await using at = await serving({ model: script(say("hi")) });
    const { fetch, at: state } = refusing();
    const client = connect({ url: at.url, fetch });
    state.isForAll = true;
    for (const when of ["before the server was reached", "afterwards"]) {
      state.answer = () => page(status);
      await assert.rejects(client.listThreads(), { code: "TOO_LARGE", message: problem });
      assert.equal(client.connection, "online", when);
      state.answer = undefined;
      await client.init();
    }
    assert.equal(state.refused, 2);
    await client.close();
  });

const REFUSED = [400, 401, 403, 405, 406, 407, 415, 422, 451];
for (const status of REFUSED)
  test(`a command that a proxy refuses with ${status} is an error, and those after it are sent`, async () => {
    await using at = await serving({ model: script(say("hi")) });
    let refused = 0;
    const { fetch } = faulty(async ({ init, pass }) => {
      if (!String(init.body).includes("etc/passwd")) return pass();
      refused++;
      return page(status);
    });
    const client = connect({ url: at.url, fetch });
    const { id: threadId } = await client.createThread();
    const problem = { code: "PROXY_REFUSED", message: new RegExp(`proxy answered ${status}.*change what is sent`) };
    const posted = assert.rejects(client.post({ content: "cat /etc/passwd", delivery: "send" }), problem);
    await client.abort();
    await client.renameThread({ title: "After it" });
    await posted;
    assert.equal(refused, 1);
    assert.equal(client.connection, "online");
    const there = await at.harness.createSession({ threadId });
    assert.equal(there.getDisplayState().title, "After it");
    await client.close();
  });

test("a token that a proxy refuses is asked for again", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const tokens = ["old", "old", "new"];
  let known = "old";
  const { fetch } = faulty(async ({ init, pass }) =>
    new Headers(init.headers).get("authorization") === `Bearer ${known}` ? pass() : page(401),
  );
  const client = connect({ url: at.url, fetch, token: () => tokens.shift()! });
  await client.init();
  known = "new";
  await assert.rejects(client.listThreads(), { code: "PROXY_REFUSED" });
  assert.deepEqual(await client.listThreads(), []);
  await client.close();
});

test("a query that is too long for the headers of a server is refused, also if it is the first request", async () => {
  await using at = await serving({ model: script(say("hi")) });
  for (const wasReached of [false, true]) {
    const client = connect({ url: at.url });
    if (wasReached) await client.init();
    const query = "x".repeat(20_000);
    await assert.rejects(client.listThreads({ query }), { code: "TOO_LARGE", message: /431/ });
    await client.close();
  }
});

test("a proxy that failed is not taken for the server: its next answer is an error", async () => {
  const client = connect({ url: "http://cinch.example", fetch: async () => answers.shift()!() });
  const answers = [() => page(502), () => page(404)];
  await assert.rejects(client.init(), { code: "INVALID_CONFIG" });
  await client.close();
});

async function titled(changes: AsyncIterableIterator<ThreadListChange>, title: string): Promise<void> {
  for (;;) {
    const { value, done } = await changes.next();
    assert.ok(!done, `The changes ended before "${title}".`);
    if ("thread" in value && value.thread.title === title) return;
  }
}

for (const [name, answer] of [
  ["is refused", () => refusal(403, "PERMISSION_DENIED")],
  ["fails", () => refusal(500, "INTERNAL")],
] as const)
  test(`the list of threads is followed, although the stream of the thread that brings it ${name}`, async () => {
    await using at = await serving({ model: script(say("hi")) });
    const { fetch, at: state, refuse } = refusing();
    const client = connect({ url: at.url, fetch });
    const changes = await client.followThreads();
    await client.createThread();
    refuse(answer);
    await until(() => state.refused > 0);
    const other = await at.harness.createSession();
    await other.createThread({ title: "Meanwhile" });
    await titled(changes, "Meanwhile");
    await other.renameThread({ title: "And later" });
    await titled(changes, "And later");
    await client.close();
  });

for (const [name, answer, options] of [
  ["fails", () => refusal(500, "INTERNAL"), {}],
  ["does not know the token of a function", () => refusal(401, "UNAUTHENTICATED"), { token }],
] as const)
  test(`the list that the stream of a thread brings goes on after a moment in which the server ${name}`, async () => {
    await using at = await serving({ model: script(say("hi")) });
    const { fetch, at: state, refuse } = refusing();
    const client = connect({ url: at.url, fetch, ...options });
    const changes = await client.followThreads();
    const { id: threadId } = await client.createThread();
    state.isForAll = true;
    refuse(answer);
    // The stream of the thread and then that of the list.
    await until(() => state.refused >= 4);
    state.answer = undefined;
    const other = await at.harness.createSession({ threadId });
    await other.renameThread({ title: "Meanwhile" });
    await titled(changes, "Meanwhile");
    await client.close();
  });

test("a list that the server fails to load once, after a reconnect, is loaded again", async () => {
  await using at = await serving({ model: script(say("hi")) });
  let failures = 0;
  let open = new AbortController();
  const { fetch } = faulty(async ({ url, init, pass }) => {
    if (url.includes("/threads?") && failures-- > 0) return refusal(500, "INTERNAL");
    return isStream(init)
      ? globalThis.fetch(url, { ...init, signal: AbortSignal.any([open.signal, init.signal!]) })
      : pass();
  });
  const client = connect({ url: at.url, fetch });
  const changes = await client.followThreads();
  failures = 1;
  open.abort();
  open = new AbortController();
  await until(() => failures <= 0);
  await at.harness.createThread({ title: "Meanwhile" });
  await titled(changes, "Meanwhile");
  await client.close();
});
