import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool, type DurableEvent, type HarnessDisplayState, type ThreadRecord } from "@cinch/core";
import { call, hang, say, script } from "@cinch/testkit";
import * as z from "zod";
import { authenticate, errorOf, people, serving } from "../serving.ts";

interface Snapshot {
  seq: number;
  display: HarnessDisplayState;
  control: { modeId: string; modelId: string; state: Record<string, unknown> };
  seats: string[];
}

const write = defineTool({
  description: "Writes",
  category: "edit",
  input: z.object({ path: z.string() }),
  execute: ({ path }) => `wrote ${path}`,
});

test("a message that is posted over HTTP is answered, and the snapshot shows the conversation", async () => {
  await using at = await serving({ model: script(say("Hello back")), authenticate });
  const ann = at.at.as("ann-token");
  const { id, title } = await ann.thread({ title: "Greetings" });
  assert.equal(title, "Greetings");
  const posted = await ann.post(`/v1/threads/${id}/post`, { content: "Hello", delivery: "send", id: "in-1" });
  assert.equal(posted.status, 200);
  assert.deepEqual(JSON.parse(posted.text), { inputId: "in-1" });
  assert.deepEqual(await ann.json(`/v1/threads/${id}/settled`), { status: "idle", pending: [] });
  const { display, seq, control, seats } = await ann.json<Snapshot>(`/v1/threads/${id}`);
  assert.deepEqual(
    display.messages.map(({ role, content, by }) => [role, by, content[0]!.type === "text" ? content[0]!.text : ""]),
    [
      ["user", "ann", "Hello"],
      ["assistant", null, "Hello back"],
    ],
  );
  assert.equal(display.seq, seq);
  assert.equal(control.modeId, "default");
  assert.deepEqual(seats, ["ann"]);
});

test("a message that is posted twice with the same id is taken once", async () => {
  await using at = await serving({ model: script(say("once"), say("twice")), authenticate });
  const ann = at.at.as("ann-token");
  const { id } = await ann.thread();
  const body = { content: "Hello", delivery: "send", id: "in-1" };
  await Promise.all([ann.post(`/v1/threads/${id}/post`, body), ann.post(`/v1/threads/${id}/post`, body)]);
  await ann.json(`/v1/threads/${id}/settled`);
  assert.equal((await ann.json<unknown[]>(`/v1/threads/${id}/listMessages`)).length, 2);
});

test("a snapshot has an ETag, and is not sent again until an event happens", async () => {
  await using at = await serving({ model: script(say("hi")), authenticate });
  const ann = at.at.as("ann-token");
  const { id } = await ann.thread();
  const { headers } = await ann.get(`/v1/threads/${id}`);
  const again = () => ann.with({ "if-none-match": headers.etag! }).get(`/v1/threads/${id}`);
  assert.deepEqual([(await again()).status, (await again()).text], [304, ""]);
  await ann.post(`/v1/threads/${id}/renameThread`, { title: "new" });
  assert.equal((await again()).status, 200);
});

test("a long answer is compressed for a caller that accepts it", async () => {
  await using at = await serving({ model: script(say("word ".repeat(1_000))) });
  const { id } = await at.at.thread();
  await at.at.post(`/v1/threads/${id}/post`, { content: "go", delivery: "send" });
  await at.at.get(`/v1/threads/${id}/settled`);
  const response = await fetch(`${at.url}/v1/threads/${id}`, { headers: { "accept-encoding": "gzip" } });
  assert.equal(response.headers.get("content-encoding"), "gzip");
  const { display } = (await response.json()) as Snapshot;
  assert.equal(display.messages.length, 2);
});

test("an approval is answered once, and its event names the caller, whatever the body says", async () => {
  await using at = await serving({
    model: script(call("write", { path: "/a" }), say("done")),
    tools: { write },
    authenticate,
  });
  const ann = at.at.as("ann-token");
  const { id } = await ann.thread();
  await ann.post(`/v1/threads/${id}/post`, { content: "write", delivery: "send" });
  const { pending } = await ann.json<{ pending: { digest: string; toolCallId: string }[] }>(
    `/v1/threads/${id}/settled`,
  );
  const [{ digest, toolCallId }] = pending as [{ digest: string; toolCallId: string }];
  const waiting = await ann.json<{ kind: string; digest: string }[]>("/v1/pending");
  assert.deepEqual(
    waiting.map((one) => [one.kind, one.digest]),
    [["approval", digest]],
  );
  assert.deepEqual(await at.at.as("cat-token").json("/v1/pending"), []);

  const path = `/v1/threads/${id}/respondToToolApproval`;
  const forged = await ann.post(path, { decision: "approve", digest, by: "bob" });
  assert.deepEqual([forged.status, errorOf(forged).field], [400, "by"]);
  assert.equal((await ann.post(path, { decision: "approve", digest, toolCallId })).status, 204);
  await ann.get(`/v1/threads/${id}/settled`);
  const late = await ann.post(path, { decision: "decline", digest, toolCallId });
  assert.deepEqual([late.status, ["ALREADY_ANSWERED", "NOT_PENDING"].includes(errorOf(late).code)], [409, true]);
  const session = await at.harness.createSession({ threadId: id });
  const events: DurableEvent[] = [];
  session.subscribe((event) => "v" in event && events.push(event as DurableEvent), { since: 0 });
  await session.settled();
  const answered = events.flatMap((event) => (event.type === "tool_approval_resolved" ? [event.by] : []));
  assert.deepEqual(answered, ["ann"]);
});

test("a caller whom mayAnswer refuses gets 403, and the call still waits", async () => {
  const asked: unknown[] = [];
  await using at = await serving({
    model: script(call("write", { path: "/a" }), say("done")),
    tools: { write },
    authenticate,
    mayAnswer: ({ approval, who }) => {
      asked.push([approval.toolName, who.by]);
      return asked.length > 1;
    },
  });
  const ann = at.at.as("ann-token");
  const { id } = await ann.thread();
  await ann.post(`/v1/threads/${id}/post`, { content: "write", delivery: "send" });
  await ann.get(`/v1/threads/${id}/settled`);
  const answer = () => ann.post(`/v1/threads/${id}/respondToToolApproval`, { decision: "approve" });
  assert.equal((await answer()).status, 403);
  const { status } = await ann.json<{ status: string }>(`/v1/threads/${id}/settled`);
  assert.equal(status, "waiting");
  assert.equal((await answer()).status, 204);
  assert.deepEqual(asked, [
    ["write", "ann"],
    ["write", "ann"],
  ]);
});

test("an answer that holds for later calls too needs the role manage", async () => {
  const approver = { ...people[0]!, may: ["read", "talk", "approve"] as const };
  await using at = await serving({
    model: script(call("write", { path: "/a" }), say("done")),
    tools: { write },
    authenticate: () => approver,
  });
  const { id } = await at.at.thread();
  await at.at.post(`/v1/threads/${id}/post`, { content: "write", delivery: "send" });
  await at.at.get(`/v1/threads/${id}/settled`);
  const path = `/v1/threads/${id}/respondToToolApproval`;
  assert.equal((await at.at.post(path, { decision: "always_allow_tool" })).status, 403);
  assert.equal((await at.at.post(path, { decision: "approve" })).status, 204);
});

test("an abort over HTTP ends the turn", async () => {
  await using at = await serving({ model: script(hang("never")) });
  const { id } = await at.at.thread();
  await at.at.post(`/v1/threads/${id}/post`, { content: "go", delivery: "send" });
  assert.equal((await at.at.get(`/v1/threads/${id}/settled?wait=0`)).status, 202);
  assert.equal((await at.at.post(`/v1/threads/${id}/abort`)).status, 204);
  assert.equal((await at.at.json<Snapshot>(`/v1/threads/${id}`)).display.status, "idle");
});

test("a clone is another thread, and the caller's seat stays at the first", async () => {
  await using at = await serving({ model: script(say("hi")), authenticate });
  const ann = at.at.as("ann-token");
  const { id } = await ann.thread({ title: "first" });
  const cloned = await ann.post(`/v1/threads/${id}/cloneThread`, { title: "second" });
  const clone = JSON.parse(cloned.text) as ThreadRecord;
  assert.notEqual(clone.id, id);
  await ann.post(`/v1/threads/${id}/renameThread`, { title: "still first" });
  const list = await ann.json<ThreadRecord[]>("/v1/threads");
  assert.deepEqual(list.map(({ title }) => title).toSorted(), ["second", "still first"]);
});

test("commands for a deleted thread go to no other thread", async () => {
  await using at = await serving({ model: script(say("hi")), authenticate });
  const ann = at.at.as("ann-token");
  const [other, { id }] = [await ann.thread({ title: "other" }), await ann.thread({ title: "gone" })];
  assert.equal((await ann.post(`/v1/threads/${id}/renameThread`, { title: "going" })).status, 204);
  assert.equal((await ann.send("DELETE", `/v1/threads/${id}`)).status, 204);
  assert.equal((await ann.post(`/v1/threads/${id}/renameThread`, { title: "taken" })).status, 404);
  assert.deepEqual(
    (await ann.json<ThreadRecord[]>("/v1/threads")).map(({ id: one, title }) => [one, title]),
    [[other.id, "other"]],
  );
});

test("a created thread has the caller's id, and an id of another resource is refused without a word about whose", async () => {
  await using at = await serving({ model: script(say("hi")), authenticate });
  const [ann, cat] = [at.at.as("ann-token"), at.at.as("cat-token")];
  assert.equal((await ann.thread({ id: "mine" })).id, "mine");
  assert.equal((await ann.thread({ id: "mine" })).id, "mine");
  const taken = await cat.post("/v1/threads", { id: "mine" });
  assert.deepEqual([taken.status, errorOf(taken).code], [409, "THREAD_EXISTS"]);
  assert.doesNotMatch(taken.text, /team|ann/);
});

test("the answer to GET /v1 names modes and tools, and neither instructions nor models' keys", async () => {
  await using at = await serving({ model: script(say("hi")), tools: { write }, models: ["a/b"], authenticate });
  const { text } = await at.at.as("ann-token").get("/v1");
  const { modes, may, by, models, protocol } = JSON.parse(text) as Record<string, unknown>;
  assert.deepEqual([may, by, models, protocol], [["read", "talk", "approve", "manage"], "ann", ["a/b"], 1]);
  assert.deepEqual(modes, [{ id: "default", name: "default", tools: ["write"], transitionsTo: null, metadata: {} }]);
  assert.doesNotMatch(text, /SECRET/);
});
