import assert from "node:assert/strict";
import { test } from "node:test";
import {
  defineTool,
  type DurableEvent,
  type FilePart,
  type HarnessDisplayState,
  type HarnessEvent,
  type ThreadListChange,
  type ThreadRecord,
  type TurnResult,
} from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { bearerTokens, ROLES } from "@cinch/server";
import { authenticate, errorOf, people, serving } from "../serving.ts";
import { Watching } from "../feeds/watching.ts";

test("a command that is sent again with its Idempotency-Key happens once, and has the same answer", async () => {
  await using at = await serving({ model: script(say("hi")), authenticate });
  const ann = at.at.as("ann-token").with({ "idempotency-key": "key-1" });
  const answers = await Promise.all([ann.post("/v1/threads", { title: "a" }), ann.post("/v1/threads", { title: "a" })]);
  const again = await ann.post("/v1/threads", { title: "a" });
  for (const { status, text } of [...answers, again]) assert.deepEqual([status, text], [201, again.text]);
  assert.equal((await ann.json<ThreadRecord[]>("/v1/threads")).length, 1);
  const other = await ann.post("/v1/threads", { title: "b" });
  assert.deepEqual([other.status, errorOf(other).field], [400, "Idempotency-Key"]);
  const cats = await at.at.as("cat-token").with({ "idempotency-key": "key-1" }).thread({ title: "a" });
  assert.equal(cats.resourceId, "cats");
});

test("a command that failed can be sent again with the same key", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const keyed = at.at.with({ "idempotency-key": "key-1" });
  assert.equal((await keyed.post("/v1/threads/later/renameThread", { title: "x" })).status, 404);
  await at.at.thread({ id: "later" });
  assert.equal((await keyed.post("/v1/threads/later/renameThread", { title: "x" })).status, 204);
});

test("a command that is sent again to another server of the store happens once, also after a restart", async () => {
  const data = new MemoryData();
  const all = bearerTokens(() => people.map((one) => ({ ...one, may: ROLES })));
  const started = () =>
    serving({ model: script(say("hi")), authenticate: all, harness: { storage: new MemoryStore(data) } });
  const keyed = ({ at }: Awaited<ReturnType<typeof started>>) =>
    at.as("ann-token").with({ "idempotency-key": "key-1" });
  const first = await started();
  await using second = await started();
  const { id } = await keyed(first).thread({ title: "a" });
  const titles = (title: string) => first.at.as("bob-token").post(`/v1/threads/${id}/renameThread`, { title });
  const rename = (at: typeof first) => keyed(at).post(`/v1/threads/${id}/renameThread`, { title: "mine" });
  const posted = (at: typeof first) => keyed(at).post(`/v1/threads/${id}/post`, { content: "hi", delivery: "send" });
  assert.equal((await rename(first)).status, 204);
  const input = await posted(first);
  await titles("theirs");
  await first[Symbol.asyncDispose]();
  assert.equal((await keyed(second).thread({ title: "a" })).id, id);
  assert.equal((await rename(second)).status, 204);
  assert.deepEqual((await posted(second)).text, input.text);
  const [thread, ...others] = await second.at.as("ann-token").json<ThreadRecord[]>("/v1/threads");
  assert.deepEqual([thread!.title, others], ["theirs", []]);
  const bobs = second.at.as("bob-token").with({ "idempotency-key": "key-1" });
  assert.equal((await bobs.post(`/v1/threads/${id}/renameThread`, { title: "mine" })).status, 204);
  const [renamed] = await second.at.as("ann-token").json<ThreadRecord[]>("/v1/threads");
  assert.equal(renamed!.title, "mine", "another person has keys of their own");
});

for (const mayAnswer of [undefined, () => true])
  test(`an answer may be sent again by the same person, and by no other${mayAnswer ? ", also if mayAnswer decides" : ""}`, async () => {
    const { write, ask, runs } = personTools();
    const model = script(call("write", { path: "/a" }, "w"), call("ask", { question: "Which?" }, "q"), say("done"));
    await using at = await serving({
      model,
      tools: { write, ask },
      authenticate: bearerTokens(() => people.map((one) => ({ ...one, may: ROLES }))),
      ...(mayAnswer ? { mayAnswer } : {}),
      harness: { permissions: [{ toolName: "ask", policy: "allow" }] },
    });
    const [ann, bob] = [at.at.as("ann-token"), at.at.as("bob-token")];
    const { id } = await ann.thread();
    await ann.post(`/v1/threads/${id}/post`, { content: "go", delivery: "send" });
    type Waiting = { pending: [{ toolCallId: string; digest: string; seq: number }] };
    const pending = async () => (await ann.json<Waiting>(`/v1/threads/${id}/settled`)).pending[0];
    const { digest } = await pending();
    const approve = { toolCallId: "w", decision: "approve", digest };
    const path = `/v1/threads/${id}/respondToToolApproval`;
    assert.equal((await ann.post(path, approve)).status, 204);
    const { seq } = await pending();
    assert.equal((await ann.post(path, approve)).status, 204);
    assert.equal(errorOf(await bob.post(path, approve)).code, "ALREADY_ANSWERED");
    assert.equal(errorOf(await ann.post(path, { ...approve, decision: "decline" })).code, "ALREADY_ANSWERED");
    assert.equal(errorOf(await ann.post(path, { toolCallId: "w", decision: "approve" })).code, "ALREADY_ANSWERED");

    const answer = { toolCallId: "q", seq, resumeData: "this" };
    const questions = `/v1/threads/${id}/respondToToolSuspension`;
    assert.equal((await ann.post(questions, answer)).status, 204);
    await ann.get(`/v1/threads/${id}/settled`);
    assert.equal((await ann.post(questions, answer)).status, 204);
    assert.equal(errorOf(await bob.post(questions, answer)).code, "ALREADY_ANSWERED");
    assert.equal(errorOf(await ann.post(questions, { ...answer, resumeData: "that" })).code, "ALREADY_ANSWERED");
    assert.deepEqual(runs, ["write"]);
  });

/** A tool that has to be approved, and one that asks a person. */
function personTools() {
  const runs: string[] = [];
  const write = defineTool({
    description: "Writes",
    category: "edit",
    input: z.object({ path: z.string() }),
    execute: () => {
      runs.push("write");
      return "written";
    },
  });
  const ask = defineTool({
    description: "Asks",
    effect: "pure",
    input: z.object({ question: z.string() }),
    execute: ({ question }, { suspend, resumed }) => (resumed ? String(resumed.data) : suspend({ question })),
  });
  return { write, ask, runs };
}

test("a message comes with its files in one form", async () => {
  await using at = await serving({ model: script(say("seen")) });
  const { id } = await at.at.thread();
  const form = new FormData();
  form.set("body", JSON.stringify({ content: "look", delivery: "send" }));
  form.append("files", new File([new Uint8Array([1, 2, 3])], "a.png", { type: "image/png" }));
  const posted = await fetch(`${at.url}/v1/threads/${id}/post`, { method: "POST", body: form });
  assert.equal(posted.status, 200, await posted.text());
  await at.at.get(`/v1/threads/${id}/settled`);
  const { display } = await at.at.json<{ display: HarnessDisplayState }>(`/v1/threads/${id}`);
  const file = display.messages[0]!.content.find((part) => part.type === "file") as FilePart;
  assert.deepEqual([file.mediaType, file.filename], ["image/png", "a.png"]);
  const blob = await fetch(`${at.url}/v1/threads/${id}/blobs/${file.blob}`);
  assert.deepEqual([...new Uint8Array(await blob.arrayBuffer())], [1, 2, 3]);
  assert.deepEqual(
    ["content-type", "content-disposition", "content-security-policy", "x-content-type-options"].map((name) =>
      blob.headers.get(name),
    ),
    ["image/png", "attachment; filename*=UTF-8''a.png", "default-src 'none'; sandbox", "nosniff"],
  );
  assert.equal((await at.at.get(`/v1/threads/${id}/blobs/${"0".repeat(64)}`)).status, 404);
  form.append("other", "x");
  const refused = await fetch(`${at.url}/v1/threads/${id}/post`, { method: "POST", body: form });
  assert.deepEqual(
    [refused.status, ((await refused.json()) as { error: { field: string } }).error.field],
    [400, "other"],
  );
  const elsewhere = await fetch(`${at.url}/v1/threads/${id}/renameThread`, { method: "POST", body: form });
  assert.equal(elsewhere.status, 415);
});

test("what became of an input can be asked again, and its events can be paged through whole", async () => {
  await using at = await serving({ model: script(say("x".repeat(50))) });
  const { id } = await at.at.thread();
  await at.at.post(`/v1/threads/${id}/post`, { content: "go", delivery: "send", id: "in-1" });
  const result = await at.at.json<TurnResult>(`/v1/threads/${id}/resultOf?inputId=in-1`);
  assert.equal(result.reason, "complete");
  assert.deepEqual(await at.at.json(`/v1/threads/${id}/resultOf?inputId=in-1`), result);
  const events: DurableEvent[] = [];
  for (;;) {
    const after = events.at(-1)?.seq ?? 0;
    const page = await at.at.json<DurableEvent[]>(`/v1/threads/${id}/listEvents?after=${after}&limit=3`);
    if (page.length === 0) break;
    events.push(...page);
  }
  assert.deepEqual([events[0]!.type, events.at(-1)!.type], ["thread_created", "agent_end"]);
});

test("a request that waits for a result stops waiting with its connection, or when it has got 202", async () => {
  const storage = new FollowedStore(new MemoryData());
  const { write } = personTools();
  const model = script(call("write", { path: "/a" }));
  await using at = await serving({ model, tools: { write }, harness: { storage }, limits: { seatMs: 20 } });
  const closed = async (threadId: string) => {
    while (storage.followed.has(threadId)) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  const { id } = await at.at.thread();
  await at.at.post(`/v1/threads/${id}/post`, { content: "go", delivery: "send", id: "in-1" });
  await at.at.get(`/v1/threads/${id}/settled`);
  assert.equal((await at.at.get(`/v1/threads/${id}/resultOf?inputId=in-1&wait=1`)).status, 202);
  await closed(id);

  const gone = new AbortController();
  const waiting = fetch(`${at.url}/v1/threads/${id}/resultOf?inputId=in-1`, { signal: gone.signal });
  while (!storage.followed.has(id)) await new Promise((resolve) => setTimeout(resolve, 10));
  gone.abort();
  await assert.rejects(waiting, { name: "AbortError" });
  await closed(id);
});

/** Knows which threads are open in its process. */
class FollowedStore extends MemoryStore {
  readonly followed = new Set<string>();

  override follow(threadId: string, changed: (seq?: number) => void): () => void {
    const off = super.follow(threadId, changed);
    this.followed.add(threadId);
    return () => {
      this.followed.delete(threadId);
      off();
    };
  }
}

test("the list of threads can be followed, by those of its resource alone", async () => {
  await using at = await serving({ model: script(say("hi")), authenticate });
  const open = (token: string) =>
    Watching.open(`${at.url}/v1/events`, { headers: { authorization: `Bearer ${token}` } });
  const [ann, cat] = [await open("ann-token"), await open("cat-token")];
  const { id } = await at.at.as("ann-token").thread({ title: "first" });
  const changes = (watching: Watching) => watching.events as unknown as ThreadListChange[];
  const isListed = (one: ThreadListChange, threadId: string) => "thread" in one && one.thread.id === threadId;
  await ann.until((one) => changes(one).some((change) => isListed(change, id)));
  const hers = await at.at.as("cat-token").thread({ title: "hers" });
  await cat.until((one) => changes(one).some((change) => isListed(change, hers.id)));
  assert.ok(!changes(cat).some((change) => isListed(change, id)));
  await at.server.close({ drainMs: 100 });
  await Promise.all([ann.ended, cat.ended]);
  assert.equal(ann.frames.at(-1)!.text, "retry: 1000");
});

test("one stream has the events of a thread and the changes of the list", async () => {
  await using at = await serving({ model: script(say("hi")), authenticate });
  const ann = at.at.as("ann-token");
  const { id } = await ann.thread({ title: "first" });
  const url = `${at.url}/v1/threads/${id}/events?list=true`;
  const watching = await Watching.open(url, { headers: { authorization: "Bearer ann-token" } });
  await watching.until(({ frames }) => frames.length > 0);
  await ann.thread({ title: "second" });
  await at.at.as("cat-token").thread({ title: "of cats" });
  await ann.post(`/v1/threads/${id}/renameThread`, { title: "renamed" });
  const listed = ({ frames }: Watching) =>
    frames.filter(({ text }) => text.startsWith("event: list\n")).map(({ text }) => text);
  await watching.until((one) => listed(one).join("").includes('"renamed"') && one.display.title === "renamed");
  assert.match(listed(watching).join(""), /"second"/);
  assert.doesNotMatch(listed(watching).join(""), /of cats/);
  watching.close();
});

test("watchers see who else is at the thread, and never the name of a caller without access", async () => {
  await using at = await serving({ model: script(say("hi")), authenticate, limits: { seatMs: 50 } });
  const { id } = await at.at.as("ann-token").thread();
  const open = (token: string) =>
    Watching.open(`${at.url}/v1/threads/${id}/events`, { headers: { authorization: `Bearer ${token}` } });
  const present = ({ events }: Watching): string =>
    (events as (HarnessEvent | { type: "presence"; people: string[] })[])
      .flatMap((event) => (event.type === "presence" ? [event.people.join(" ")] : []))
      .join(", ");
  const ann = await open("ann-token");
  assert.equal((await at.at.as("cat-token").get(`/v1/threads/${id}`)).status, 404);
  const bob = await open("bob-token");
  await ann.until((one) => present(one) === "ann, ann bob");
  bob.close();
  await ann.until((one) => present(one) === "ann, ann bob, ann");
  ann.close();
});
