import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, type RemoteSession } from "@cinch/client";
import { defineTool, newDisplayState, reduceDisplay, type HarnessDisplayState, type HarnessEvent } from "@cinch/core";
import { createServer, ROLES } from "@cinch/server";
import { call, finish, say, script, scriptedBy, type Step } from "@cinch/testkit";
import * as z from "zod";
import { asking, gated } from "../../core/test/support.ts";
import { serving } from "../../server/test/serving.ts";
import { freePort } from "../../testkit/test/free-port.ts";
import { cut, faulty, isStream, reframed } from "./faults.ts";

const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
};

const plain = (display: HarnessDisplayState): unknown => JSON.parse(JSON.stringify(display));
const durable = (events: readonly HarnessEvent[]): number[] =>
  events.flatMap((event) => ("v" in event ? [event.seq] : []));

/** Collects what a subscriber gets, and folds it as a subscriber would that has no display of its own. */
function collected(session: RemoteSession): { events: HarnessEvent[]; display: () => HarnessDisplayState } {
  const events: HarnessEvent[] = [];
  session.subscribe((event) => events.push(event));
  return { events, display: () => events.reduce(reduceDisplay, newDisplayState(null)) };
}

test("a refusal that breaks off is asked for again: the caller gets the reason, and not that the server failed", async () => {
  await using at = await serving({ model: script(say("one")) });
  const breaking = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"error":{"co'));
      controller.error(new TypeError("terminated"));
    },
  });
  let isBroken = false;
  const { fetch, seen } = faulty(async ({ url, pass }) => {
    const response = await pass();
    if (!url.includes("nowhere") || isBroken) return response;
    isBroken = true;
    return new Response(breaking, response);
  });
  const client = connect({ url: at.url, fetch });
  const session = await client.createSession();
  await assert.rejects(session.switchThread({ threadId: "nowhere" }), { code: "THREAD_NOT_FOUND" });
  assert.equal(seen.filter((request) => request === "GET record").length, 2);
  await client.close();
});

test("a gap in the events is never shown: the client reconnects, and gets what was lost", async () => {
  await using at = await serving({ model: script(say("one"), say("two")) });
  let isLost = false;
  const { fetch, seen } = faulty(async ({ init, pass }) => {
    const response = await pass();
    if (!isStream(init)) return response;
    return reframed(response, (frame) => {
      if (isLost || !frame.includes('"type":"input_taken"')) return frame;
      isLost = true;
      return "";
    });
  });
  const client = connect({ url: at.url, fetch });
  const session = await client.createSession();
  const { events, display } = collected(session);
  await session.sendMessage({ content: "go" });
  await session.sendMessage({ content: "on" });
  assert.ok(isLost);
  assert.equal(seen.filter((request) => request === "GET events").length, 2);
  const seqs = durable(events);
  assert.deepEqual(
    seqs,
    seqs.map((_, n) => seqs[0]! + n),
  );
  const there = await at.harness.createSession({ threadId: session.getCurrentThreadId()! });
  assert.deepEqual(plain(session.getDisplayState()), plain(there.getDisplayState()));
  assert.deepEqual(plain(display()), plain(there.getDisplayState()));
  await client.close();
});

test("events that come twice are shown once", async () => {
  await using at = await serving({ model: script(say("one")) });
  const { fetch, seen } = faulty(async ({ init, pass }) => {
    const response = await pass();
    return isStream(init)
      ? reframed(response, (frame) => (frame.startsWith("id:") ? `${frame}\n\n${frame}` : frame))
      : response;
  });
  const client = connect({ url: at.url, fetch });
  const { events } = collected(client);
  await client.sendMessage({ content: "go" });
  const seqs = durable(events);
  assert.deepEqual([...new Set(seqs)], seqs);
  assert.equal(client.getDisplayState().messages.length, 2);
  assert.equal(seen.filter((request) => request === "GET events").length, 1, "nothing is missing");
  await client.close();
});

/** A `fetch` whose streams the test cuts. */
function cuttable() {
  const streams: AbortController[] = [];
  const { fetch } = faulty(({ url, init, pass }) => {
    if (!isStream(init)) return pass();
    const stream = new AbortController();
    streams.push(stream);
    return globalThis.fetch(url, { ...init, signal: AbortSignal.any([stream.signal, init.signal!]) });
  });
  return { fetch, streams };
}

test("what a command has printed is shown once after a reconnect, as on the server", async () => {
  const gate = Promise.withResolvers<void>();
  const dig = defineTool({
    description: "Digs",
    input: z.object({}),
    execute: async (_, { files }) => {
      files.print("Digging.\n", "stdout");
      await gate.promise;
      return "deep";
    },
  });
  await using at = await serving({ model: script(call("dig"), say("done")), tools: { dig } });
  const { fetch, streams } = cuttable();
  const client = connect({ url: at.url, fetch });
  const { display } = collected(client);
  const turn = client.sendMessage({ content: "go" });
  const outputs = (shown: HarnessDisplayState) => Object.values(shown.activeTools).map(({ output }) => output);
  await until(() => outputs(client.getDisplayState()).includes("Digging.\n"));
  for (let cuts = 1; cuts <= 2; cuts++) {
    streams.at(-1)!.abort();
    await until(() => streams.length === cuts + 1);
    await client.renameThread({ title: `cut ${cuts}` });
    await until(() => outputs(client.getDisplayState())[0] !== "");
  }
  assert.deepEqual(outputs(client.getDisplayState()), ["Digging.\n"]);
  assert.deepEqual(outputs(display()), ["Digging.\n"], "a subscriber that folds events shows the same");
  gate.resolve();
  await turn;
  await client.close();
});

test("a stream that is cut in the middle of an answer shows the answer once, and not what streamed twice", async () => {
  const gate = Promise.withResolvers<void>();
  const half: Step = async function* () {
    yield { type: "text-start", id: "t" };
    for (const delta of ["Ha", "lf"]) yield { type: "text-delta", id: "t", delta };
    await gate.promise;
    yield { type: "text-end", id: "t" };
    yield finish("stop");
  };
  const model = script(half);
  await using at = await serving({ model });
  const { fetch, streams } = cuttable();
  const client = connect({ url: at.url, fetch });
  const session = await client.createSession();
  const { display } = collected(session);
  const turn = session.sendMessage({ content: "go" });
  turn.catch(() => undefined);
  const text = () => JSON.stringify(session.getDisplayState().currentMessage?.content ?? []);
  await until(() => text().includes("Half"));
  streams[0]!.abort();
  await until(() => streams.length === 2);
  await session.renameThread({ title: "cut" });
  const there = await at.harness.createSession({ threadId: session.getCurrentThreadId()! });
  await until(() => text().includes("Half"));
  assert.deepEqual(plain(session.getDisplayState()), plain(there.getDisplayState()));
  assert.deepEqual(plain(display()), plain(there.getDisplayState()), "a subscriber that folds events shows the same");
  gate.resolve();
  await turn;
  await client.close();
});

test("a command whose answer is lost happens once, and commands stay in order", async () => {
  const { gate, started, open } = gated();
  await using at = await serving({ model: script(call("gate"), say("done")), tools: { gate } });
  const lost = new Set<string>();
  const { fetch, seen } = faulty(async ({ url, init, pass }) => {
    const response = await pass();
    const name = new URL(url).pathname;
    if (init.method !== "POST" || lost.has(name)) return response;
    lost.add(name);
    return cut();
  });
  const client = connect({ url: at.url, fetch });
  await client.createThread({ title: "a" });
  const turn = client.sendMessage({ content: "go" });
  await started;
  await Promise.all([
    client.followUp({ content: "1" }),
    client.renameThread({ title: "b" }),
    client.steer({ content: "2" }),
    client.setState({ n: 3 }),
  ]);
  open();
  assert.equal((await turn).reason, "complete");
  const events = await client.listEvents({ limit: 500 });
  const commands = events.filter(({ type }) => ["input_accepted", "thread_renamed", "state_changed"].includes(type));
  assert.deepEqual(
    commands.map((event) => ("content" in event ? event.content : event.type)),
    ["go", "1", "thread_renamed", "2", "state_changed"],
  );
  assert.equal((await client.listThreads()).length, 1);
  assert.equal(seen.filter((request) => request === "POST followUp").length, 2);
  await client.close();
});

test("a command that could not be sent at first is still before those after it", async () => {
  await using at = await serving({ model: script(say("hi")) });
  let failures = 2;
  const { fetch } = faulty(({ init, pass }) =>
    String(init.body).includes("first") && failures-- > 0 ? cut() : pass(),
  );
  const client = connect({ url: at.url, fetch });
  await client.createThread();
  await Promise.all(["first", "second", "third"].map((title) => client.renameThread({ title })));
  const events = await client.listEvents();
  assert.deepEqual(
    events.flatMap((event) => (event.type === "thread_renamed" ? [event.title] : [])),
    ["first", "second", "third"],
  );
  assert.equal(client.getDisplayState().title, "third");
  await client.close();
});

test("a message is answered, although the server restarts in the middle of its turn", async () => {
  await using at = await serving({
    model: script(call("ask", { question: "?" }), say("done")),
    tools: { ask: asking },
    port: await freePort(),
  });
  const client = connect({ url: at.url });
  const turn = client.sendMessage({ content: "go" });
  while (client.getDisplayState().status !== "waiting") await new Promise((resolve) => setTimeout(resolve, 5));
  await at.server.close({ drainMs: 0 });
  const again = createServer({ harness: at.harness });
  await again.listen({ port: at.port });
  await client.respondToToolSuspension({ resumeData: "yes" });
  assert.equal((await turn).reason, "complete");
  assert.equal(client.getDisplayState().messages.at(-1)?.role, "assistant");
  await client.close();
  await again.close({ drainMs: 100 });
});

test("a thread that is deleted while the client is away is one that the session has left", async () => {
  await using at = await serving({ model: script(say("hi")), port: await freePort() });
  const client = connect({ url: at.url });
  const { id: threadId } = await client.createThread();
  const { events } = collected(client);
  await at.server.close({ drainMs: 0 });
  await at.harness.deleteThread({ threadId });
  const again = createServer({ harness: at.harness });
  await again.listen({ port: at.port });
  await until(() => client.getCurrentThreadId() === null);
  assert.equal(events.at(-1)!.type, "thread_deleted");
  await client.close();
  await again.close({ drainMs: 100 });
});

/** A server whose caller can lose access, and get it again. */
async function revocable() {
  const access = { over: new AbortController(), isGiven: true };
  const authenticate = () => (access.isGiven ? { may: ROLES, signal: access.over.signal } : null);
  const at = await serving({ model: script(say("one"), say("two")), authenticate });
  const revoke = () => {
    access.isGiven = false;
    access.over.abort();
  };
  const grant = () => Object.assign(access, { over: new AbortController(), isGiven: true });
  return { ...at, revoke, grant };
}

test("a session whose caller loses access stays at its thread, and goes on there when it has access again", async () => {
  await using at = await revocable();
  const client = connect({ url: at.url });
  const session = await client.createSession();
  const { id: threadId } = await session.createThread();
  await session.sendMessage({ content: "hi" });
  await client.createThread({ title: "The newest thread" });
  const { events, display } = collected(session);
  const before = plain(session.getDisplayState());
  at.revoke();
  await until(() => events.at(-1)?.type === "info");
  assert.deepEqual(plain(session.getDisplayState()), before);
  await assert.rejects(session.post({ content: "refused", delivery: "send" }), /Send a token/);
  assert.equal(session.getCurrentThreadId(), threadId);
  const there = await at.harness.createSession({ threadId });
  await there.renameThread({ title: "Meanwhile" });

  at.grant();
  assert.equal((await session.sendMessage({ content: "again" })).reason, "complete");
  assert.equal(session.getCurrentThreadId(), threadId);
  assert.deepEqual(plain(session.getDisplayState()), plain(there.getDisplayState()));
  assert.deepEqual(plain(display()), plain(there.getDisplayState()));
  assert.ok(!events.some(({ type }) => type === "thread_changed"));
  await client.close();
});

test("a subscriber whose past the server refuses gets the display, and then the events", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const { fetch } = faulty(({ url, pass }) => {
    const error = { code: "PERMISSION_DENIED", message: "no" };
    const refused = () => Response.json({ error }, { status: 403, headers: { "cinch-protocol": "1" } });
    return url.includes("listEvents") ? Promise.resolve(refused()) : pass();
  });
  const client = connect({ url: at.url, fetch });
  await client.createThread();
  const types: string[] = [];
  client.subscribe(({ type }) => types.push(type), { since: 0 });
  await client.renameThread({ title: "x" });
  await until(() => types.includes("thread_renamed"));
  assert.equal(types[0], "resync");
  await client.close();
});

test("what a subscriber throws is an info event, and a warning with its stack, once", async (t) => {
  const { mock } = t.mock.method(console, "warn", () => undefined);
  await using at = await serving({ model: script(say("hi")) });
  const client = connect({ url: at.url });
  await client.createThread();
  const thrown = new Error("mine");
  client.subscribe(() => {
    throw thrown;
  });
  const { events } = collected(client);
  for (const title of ["x", "y"]) await client.renameThread({ title });
  const said = events.flatMap((event) => (event.type === "info" ? event.message : []));
  assert.deepEqual(said, ["A subscriber threw: mine"]);
  assert.deepEqual(
    mock.calls.map(({ arguments: [, error] }) => error as unknown),
    [thrown],
  );
  await client.close();
});

test("a thread that is deleted while the caller has no access is one that the session leaves", async () => {
  await using at = await revocable();
  const client = connect({ url: at.url });
  const { id: threadId } = await client.createThread();
  const { events } = collected(client);
  at.revoke();
  await until(() => events.at(-1)?.type === "info");
  await at.harness.deleteThread({ threadId });
  at.grant();
  await assert.rejects(client.renameThread({ title: "x" }), { code: "THREAD_NOT_FOUND" });
  assert.deepEqual([client.getCurrentThreadId(), events.at(-1)!.type], [null, "thread_deleted"]);
  await client.close();
});

test("a proxy that does not reach the server is one that is asked again", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const statuses = [502, 521, 530];
  const { fetch, seen } = faulty(async ({ pass }) => {
    const status = statuses.shift();
    return status === undefined ? pass() : new Response("<h1>Sorry</h1>", { status });
  });
  const client = connect({ url: at.url, fetch });
  await client.init();
  assert.equal(seen.length, 4);
  await client.close();
});

test("sessions beyond the streams that a caller may have work, too", async () => {
  await using at = await serving({ model: scriptedBy(() => say("hi")), limits: { streams: 2 } });
  const client = connect({ url: at.url });
  const sessions = await Promise.all(Array.from({ length: 5 }, () => client.createSession()));
  await Promise.all(sessions.map((session) => session.createThread()));
  const turns = await Promise.all(sessions.map((session) => session.sendMessage({ content: "go" })));
  assert.deepEqual(
    turns.map(({ reason }) => reason),
    sessions.map(() => "complete"),
  );
  for (const session of sessions) await until(() => session.getDisplayState().messages.length === 2);
  await client.close();
});

test("where streams do not arrive, the client asks again and again", async () => {
  await using at = await serving({
    model: script(call("ask", { question: "?" }), say("done")),
    tools: { ask: asking },
  });
  const { fetch, seen } = faulty(async ({ init, pass }) => {
    if (!isStream(init)) return pass();
    const { status, headers } = await pass();
    return new Response(null, { status, headers });
  });
  const client = connect({ url: at.url, fetch });
  const { events } = collected(client);
  const turn = client.sendMessage({ content: "go" });
  await until(() => client.getDisplayState().status === "waiting");
  await client.respondToToolSuspension({ resumeData: "yes" });
  assert.equal((await turn).reason, "complete");
  const there = await at.harness.createSession({ threadId: client.getCurrentThreadId()! });
  assert.deepEqual(plain(client.getDisplayState()), plain(there.getDisplayState()));
  const seqs = durable(events);
  assert.deepEqual([...new Set(seqs)], seqs);
  assert.ok(seen.filter((request) => request === "GET events").length > 3);
  await client.close();
});
