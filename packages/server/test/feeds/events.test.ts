import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { test } from "node:test";
import { defineTool, type HarnessEvent } from "@cinch/core";
import { call, hang, say, script } from "@cinch/testkit";
import * as z from "zod";
import { authenticate, people, serving } from "../serving.ts";
import { plain, Watching } from "./watching.ts";

const long = defineTool({
  description: "Says much",
  input: z.object({ n: z.number() }),
  execute: ({ n }) => "result ".repeat(n),
});
const TEXT = "It was a bright cold day in April, and the clocks were striking thirteen. ".repeat(20);

const lastSeq = ({ events }: Watching): number =>
  events.reduce((last, event) => ("seq" in event ? Math.max(last, event.seq) : last), 0);
const isIdle = ({ display, events }: Watching): boolean =>
  display.status === "idle" && events.some(({ type }) => type === "agent_end");

test("a watcher gets the display first, then every event, and folds to what the session shows", async () => {
  const model = script(call("long", { n: 5_000 }), say(TEXT));
  await using at = await serving({ model, tools: { long } });
  const { id } = await at.at.thread();
  const watching = await Watching.open(`${at.url}/v1/threads/${id}/events`);
  await at.at.post(`/v1/threads/${id}/post`, { content: "go", delivery: "send" });
  await watching.until(isIdle);
  const session = await at.harness.createSession({ threadId: id });
  assert.deepEqual(watching.display, plain(session.getDisplayState()));
  assert.equal(watching.events[0]!.type, "resync");
  const ids = watching.frames.flatMap((frame) => (frame.id === undefined ? [] : Number(frame.id)));
  assert.deepEqual(
    ids,
    ids.map((_, n) => ids[0]! + n),
  );
  for (const { id: frameId, event } of watching.frames)
    assert.equal(frameId, event !== undefined && "seq" in event ? String(event.seq) : undefined);
  watching.close();
});

test("deltas of one text are merged, and none is lost", async () => {
  await using at = await serving({ model: script(say(TEXT)) });
  const { id } = await at.at.thread();
  const watching = await Watching.open(`${at.url}/v1/threads/${id}/events`);
  await at.at.post(`/v1/threads/${id}/post`, { content: "go", delivery: "send" });
  await watching.until(isIdle);
  const deltas = watching.events.flatMap((event) => (event.type === "message_update" ? [event.delta] : []));
  assert.equal(deltas.join(""), TEXT);
  assert.ok(deltas.length < TEXT.length / 5, `${deltas.length} frames`);
  const unnamed = watching.events.filter((event) => !("threadId" in event)).map(({ type }) => type);
  assert.deepEqual([...new Set(unnamed)], ["message_update"], "only deltas leave out the thread");
  watching.close();
});

test("a watcher that returns with its last id gets what it missed, and nothing twice", async () => {
  await using at = await serving({ model: script(say("one"), say("two"), say("three")) });
  const { id } = await at.at.thread();
  const path = `${at.url}/v1/threads/${id}/events`;
  const first = await Watching.open(path);
  const send = async (content: string) => {
    await at.at.post(`/v1/threads/${id}/post`, { content, delivery: "send" });
    await at.at.get(`/v1/threads/${id}/settled`);
  };
  await send("1");
  await first.until(isIdle);
  first.close();
  const seen = lastSeq(first);
  await send("2");
  const headers = { "last-event-id": String(seen) };
  const second = await Watching.open(`${path}?since=0`, { headers, from: first.display });
  await send("3");
  await second.until(({ display }) => display.messages.length === 6 && display.status === "idle");
  const seqs = second.frames.flatMap((frame) => (frame.id === undefined ? [] : Number(frame.id)));
  assert.equal(seqs[0], seen + 1);
  assert.deepEqual(
    seqs,
    seqs.map((_, n) => seqs[0]! + n),
  );
  assert.ok(!second.events.some(({ type }) => type === "resync"));
  const session = await at.harness.createSession({ threadId: id });
  assert.deepEqual(second.display, plain(session.getDisplayState()));
  second.close();
});

test("a watcher that joins while an answer streams sees all of its text", async () => {
  await using at = await serving({ model: script(hang("half of a sentence")) });
  const { id } = await at.at.thread();
  const path = `${at.url}/v1/threads/${id}/events`;
  const first = await Watching.open(path);
  await at.at.post(`/v1/threads/${id}/post`, { content: "go", delivery: "send" });
  const isShown = ({ display }: Watching) =>
    JSON.stringify(display.currentMessage ?? "").includes("half of a sentence");
  await first.until(isShown);
  const { display } = await at.at.json<{ display: Watching["display"] }>(`/v1/threads/${id}`);
  for (const query of ["", `?since=${lastSeq(first)}`, "?since=1"]) {
    const from = query === "" ? {} : { from: { ...display, currentMessage: null } };
    const other = await Watching.open(`${path}${query}`, query === "?since=1" ? {} : from);
    await other.until(isShown);
    assert.equal(JSON.stringify(other.display.currentMessage).split("half").length, 2);
    other.close();
  }
  first.close();
});

test("a since that a rewind reverted, or that never was, is answered by a resync", async () => {
  await using at = await serving({ model: script(say("one"), say("two")) });
  const { id } = await at.at.thread();
  const path = `${at.url}/v1/threads/${id}/events`;
  const watching = await Watching.open(path);
  await at.at.post(`/v1/threads/${id}/post`, { content: "1", delivery: "send" });
  await watching.until(isIdle);
  const seen = lastSeq(watching);
  await at.at.post(`/v1/threads/${id}/rewind`, { toSeq: 1 });
  await watching.until(({ display }) => display.messages.length === 0);
  for (const since of [seen, 99_999]) {
    const other = await Watching.open(`${path}?since=${since}`);
    await other.until(({ frames }) => frames.length > 0);
    assert.equal(other.events[0]!.type, "resync");
    assert.deepEqual(other.display, watching.display);
    other.close();
  }
  watching.close();
});

test("a stream is not open to a caller without access, and a caller has a limited number", async () => {
  await using at = await serving({ model: script(say("hi")), authenticate, limits: { streams: 2 } });
  const ann = { authorization: "Bearer ann-token" };
  const { id } = await at.at.as("ann-token").thread();
  const url = `${at.url}/v1/threads/${id}/events`;
  assert.equal((await at.at.get(`/v1/threads/${id}/events`)).status, 401);
  assert.equal((await at.at.as("cat-token").get(`/v1/threads/${id}/events`)).status, 404);
  const open = [await Watching.open(url, { headers: ann }), await Watching.open(url, { headers: ann })];
  const third = await at.at.as("ann-token").get(`/v1/threads/${id}/events`);
  assert.equal(third.status, 429);
  const other = await Watching.open(url, { headers: { authorization: "Bearer bob-token" } });
  open[0]!.close();
  const reopened = async () => {
    for (;;) {
      const again = await Watching.open(url, { headers: ann }).catch(() => null);
      if (again) return again;
      await delay(20);
    }
  };
  for (const one of [open[1]!, other, await reopened()]) one.close();
});

test("a caller that loses access loses its streams at once, and others keep theirs", async () => {
  const access = new AbortController();
  const known = { ...people[0]!, signal: access.signal };
  await using at = await serving({
    model: script(say("hi")),
    authenticate: (request) => (request.headers.get("x-name") === "ann" ? known : people[1]!),
  });
  const { id } = await at.at.with({ "x-name": "ann" }).thread();
  const url = `${at.url}/v1/threads/${id}/events`;
  const [ann, bob] = [await Watching.open(url, { headers: { "x-name": "ann" } }), await Watching.open(url)];
  access.abort();
  await ann.ended;
  await at.at.with({ "x-name": "ann" }).post(`/v1/threads/${id}/renameThread`, { title: "new" });
  await bob.until(({ display }) => display.title === "new");
  bob.close();
});

test("a silent stream gets a comment", async () => {
  await using at = await serving({ model: script(say("hi")), limits: { heartbeatMs: 50 } });
  const { id } = await at.at.thread();
  const watching = await Watching.open(`${at.url}/v1/threads/${id}/events`);
  await watching.until(({ frames }) => frames.filter(({ text }) => text.startsWith(":")).length >= 2);
  watching.close();
});

test("the watchers of a deleted thread learn that it is deleted, and their streams end", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const { id } = await at.at.thread();
  const watching = await Watching.open(`${at.url}/v1/threads/${id}/events`);
  await at.at.send("DELETE", `/v1/threads/${id}`);
  await watching.ended;
  assert.ok(watching.events.some(({ type }) => type === "thread_deleted"));
});

test("a long poll answers with the next durable event, or at the end of its time", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const { id } = await at.at.thread();
  const poll = at.at.with({ accept: "application/json" });
  const path = `/v1/threads/${id}/events`;
  const [resync] = await poll.json<HarnessEvent[]>(path);
  assert.equal(resync!.type, "resync");
  const { seq } = resync as Extract<HarnessEvent, { type: "resync" }>;
  assert.deepEqual(await poll.json(`${path}?since=${seq}&wait=0`), []);
  const waiting = poll.json<HarnessEvent[]>(`${path}?since=${seq}&wait=25`);
  await at.at.post(`/v1/threads/${id}/renameThread`, { title: "new" });
  assert.deepEqual(
    (await waiting).map(({ type }) => type),
    ["thread_renamed"],
  );
  assert.equal((await poll.get(`${path}?since=${seq}&wait=26`)).status, 400);
});
