import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { call, hang, say, script } from "@cinch/testkit";
import { asking, gated, harness, next, noting, texts } from "../support.ts";

test("without a thread, a session selects the newest one of its resource, or creates one", async () => {
  const data = new MemoryData();
  await using h = await harness({ model: script(say("hi")), storage: memoryStore(data) });
  assert.equal(h.getDisplayState().threadId, null);
  await h.sendMessage({ content: "hello" });
  const threadId = h.getCurrentThreadId();
  await using other = await harness({ model: script(say("hi")), storage: memoryStore(data) });
  assert.equal((await other.selectOrCreateThread()).id, threadId);
  const elsewhere = await other.createSession({ resourceId: "somebody else" });
  assert.notEqual((await elsewhere.selectOrCreateThread()).id, threadId);
});

test("threads are created, renamed, listed newest first, found, paged and deleted", async () => {
  await using h = await harness({ model: script(say("about walruses")) });
  const a = await h.createThread({ title: "A" });
  const b = await h.createThread({ title: "B" });
  await h.switchThread({ threadId: a.id });
  await h.sendMessage({ content: "hello" });
  await h.renameThread({ title: "Alpha" });
  assert.equal(h.getDisplayState().title, "Alpha");
  assert.deepEqual(
    (await h.listThreads()).map(({ title }) => title),
    ["Alpha", "B"],
  );
  assert.deepEqual(
    (await h.listThreads({ limit: 1, before: a.id })).map(({ title }) => title),
    ["B"],
  );
  assert.deepEqual(
    (await h.listThreads({ query: "walruses" })).map(({ id }) => id),
    [a.id],
  );
  assert.deepEqual(Object.keys((await h.listThreads())[0]!).toSorted(), [
    "active",
    "createdAt",
    "id",
    "metadata",
    "parentId",
    "resourceId",
    "title",
    "updatedAt",
  ]);
  const deleted = next(h, "thread_deleted");
  await h.deleteThread({ threadId: a.id });
  await deleted;
  assert.equal(h.getDisplayState().threadId, null);
  await assert.rejects(h.switchThread({ threadId: a.id }), { code: "THREAD_NOT_FOUND" });
  assert.deepEqual(
    (await h.listThreads()).map(({ id }) => id),
    [b.id],
  );
});

test("deleting a thread ends the turn that runs in it", async () => {
  await using h = await harness({ model: script(hang("…")) });
  const turn = h.sendMessage({ content: "go" });
  const failed = assert.rejects(turn, { code: "THREAD_NOT_FOUND" });
  await next(h, "message_update");
  await h.deleteThread({ threadId: h.getCurrentThreadId()! });
  await failed;
});

test("a clone begins as its source was at a seq, is independent of it, and outlives it", async () => {
  const model = script(say("one"), say("two"), say("three"));
  await using h = await harness({ model });
  await h.sendMessage({ content: "first" });
  const source = h.getDisplayState();
  await h.sendMessage({ content: "second" });
  const clone = await h.cloneThread({ atSeq: source.seq, title: "branch" });
  assert.deepEqual([clone.parentId, clone.title, h.getCurrentThreadId()], [source.threadId, "branch", clone.id]);
  assert.deepEqual(h.getDisplayState().messages, source.messages);
  assert.equal(h.getDisplayState().seq, source.seq + 1);
  assert.equal(h.getTokenUsage().inputTokens, 0);
  await h.deleteThread({ threadId: source.threadId! });
  await h.sendMessage({ content: "other second" });
  const prompt = model.requests.at(-1)!.prompt.slice(1);
  assert.deepEqual(
    prompt.map(({ role, content }) => [role, (content as { text: string }[])[0]?.text]),
    [
      ["user", "first"],
      ["assistant", "one"],
      ["user", "other second"],
    ],
  );
});

test("a clone that is created during a turn inherits no open calls and inputs", async () => {
  const model = script(call("ask", { question: "?" }), say("done"));
  await using h = await harness({ model, tools: { ask: asking } });
  h.sendMessage({ content: "go" }).catch(() => undefined);
  await next(h, "tool_suspended");
  await h.followUp({ content: "queued" });
  await h.cloneThread();
  const { status, pendingSuspensions, inbox } = h.getDisplayState();
  assert.deepEqual({ status, pendingSuspensions, inbox }, { status: "idle", pendingSuspensions: {}, inbox: [] });
  await h.sendMessage({ content: "and now?" });
  assert.deepEqual(model.requests.at(-1)!.prompt.at(-2), {
    role: "tool",
    content: [
      {
        type: "tool-result",
        toolCallId: "call-0-0",
        toolName: "ask",
        output: {
          type: "error-text",
          value: "Interrupted: this call did not finish, and nothing is known of its effect.",
        },
      },
    ],
  });
});

test("a rewind reverts messages, aborts the running turn and keeps usage, and seq continues", async () => {
  const { gate, started } = gated();
  await using h = await harness({ model: script(say("one"), call("gate"), say("never")), tools: { gate } });
  await h.sendMessage({ content: "first" });
  const { seq, messages } = h.getDisplayState();
  const turn = h.sendMessage({ content: "second" });
  await started;
  assert.deepEqual(await h.rewind({ toSeq: seq, dryRun: true }), { toSeq: seq, messages: 2, files: [], untracked: [] });
  const before = h.getDisplayState().seq;
  const resync = next(h, "resync");
  await h.rewind({ toSeq: seq });
  assert.equal((await turn).reason, "aborted");
  assert.equal((await resync).seq, h.getDisplayState().seq);
  assert.ok(h.getDisplayState().seq > before);
  assert.deepEqual(h.getDisplayState().messages, messages);
  assert.equal(h.getTokenUsage().inputTokens, 200);
  assert.deepEqual(
    (await h.listMessages()).map(({ seq: at }) => at),
    messages.map(({ seq: at }) => at),
  );
  await assert.rejects(h.rewind({ toSeq: 10_000 }), { code: "INVALID_INPUT" });
});

test("messages are listed by page, with the outcomes of their calls", async () => {
  const { note } = noting();
  await using h = await harness({
    model: script(call("note", { what: "x" }), say("one"), say("two")),
    tools: { note },
  });
  await h.sendMessage({ content: "first" });
  await h.sendMessage({ content: "second" });
  const all = await h.listMessages();
  assert.deepEqual(all, h.getDisplayState().messages);
  const newest = await h.listMessages({ limit: 2 });
  assert.deepEqual(newest, all.slice(-2));
  assert.deepEqual(await h.listMessages({ limit: 2, before: newest[0]!.seq }), all.slice(-4, -2));
  assert.deepEqual(
    Object.values(all[1]!.outcomes).map(({ result }) => result.content),
    ["noted x"],
  );
});

test("commands are accepted in the order of the calls, awaited or not, for the thread that was current at the call", async () => {
  const { gate, started, open } = gated();
  await using h = await harness({ model: script(call("gate"), say("done")), tools: { gate } });
  const first = await h.createThread({ title: "first" });
  h.sendMessage({ content: "go" }).catch(() => undefined);
  await started;
  const switched = h.createThread({ title: "second" });
  const posts = ["a", "b", "c"].map((content) => h.followUp({ content }));
  await Promise.all([...posts, switched]);
  open();
  await h.switchThread({ threadId: first.id });
  while (h.getDisplayState().inbox.length > 0) await next(h, "display_state_changed");
  const messages = await h.listMessages();
  const said = messages
    .filter(({ role }) => role === "user")
    .map(({ content }) => content[0]?.type === "text" && content[0].text);
  assert.deepEqual(said, ["go", "a", "b", "c"]);
});

test("two sessions at one thread see the same messages, and either can steer", async () => {
  const { gate, started, open } = gated();
  await using h = await harness({ model: script(call("gate"), say("done")), tools: { gate } });
  const { id } = await h.createThread();
  const other = await h.createSession({ threadId: id });
  const seen: string[] = [];
  other.subscribe((event) => void ("v" in event && seen.push(event.type)));
  const turn = h.sendMessage({ content: "go" });
  await started;
  await other.steer({ content: "left" });
  open();
  await turn;
  assert.deepEqual(
    seen,
    h.seen.filter((event) => "v" in event).map((event) => event.type),
  );
  assert.deepEqual(other.getDisplayState(), h.getDisplayState());
  assert.ok(texts(h.seen).includes("user: left"));
});

test("a session in another process follows the journal and the draft, and its commands reach the driver", async () => {
  const data = new MemoryData();
  const { gate, started, open } = gated();
  await using driver = await harness({
    model: script(call("gate"), say("a long answer ".repeat(40), { delayMs: 10 })),
    tools: { gate },
    storage: memoryStore(data),
  });
  const { id } = await driver.createThread();
  await using watcher = await harness({ model: script(say("never used")), storage: memoryStore(data) });
  await watcher.switchThread({ threadId: id });
  const turn = driver.sendMessage({ content: "go" });
  await started;
  await watcher.steer({ content: "from afar" });
  open();
  const drafted = await next(watcher, "message_update");
  assert.match(drafted.delta, /^a long answer/);
  await watcher.abort();
  assert.equal((await turn).reason, "aborted");
  assert.deepEqual(watcher.getDisplayState(), driver.getDisplayState());
  assert.ok(texts(driver.seen).includes("user: from afar"));
});

test("the display state is the same immutable object until something changes", async () => {
  await using h = await harness({ model: script(say("hi")) });
  await h.createThread();
  const before = h.getDisplayState();
  assert.equal(h.getDisplayState(), before);
  const copy = structuredClone(before);
  await h.sendMessage({ content: "hello" });
  assert.deepEqual(before, copy);
  assert.notEqual(h.getDisplayState(), before);
});

test("the constructor reports mistakes in the configuration", () => {
  const agent = new Agent({ name: "a", model: script(say("x")) });
  const { note } = noting();
  const cases: [() => unknown, RegExp][] = [
    [() => new Harness({ id: "x" }), /either an agent or modes/],
    [() => new Harness({ id: "x", agent, modess: [] } as never), /modess/],
    [
      () =>
        new Harness({
          id: "x",
          modes: [
            { id: "m", agent },
            { id: "m", agent },
          ],
        }),
      /two modes have the id "m"/,
    ],
    [
      () => new Harness({ id: "x", modes: [{ id: "m", agent }], defaultModeId: "n" }),
      /defaultModeId "n" is not one of m/,
    ],
    [
      () => new Harness({ id: "x", tools: { note }, agent: new Agent({ name: "a", tools: { note } }) }),
      /two tools named "note"/,
    ],
    [() => new Harness({ id: "x", tools: { "a b": note }, agent }), /Tool name "a b"/],
    [() => new Agent({ name: "a", model: 5 } as never), /model/],
    [() => new Agent({ name: "a", instructionz: "x" } as never), /instructionz/],
  ];
  for (const [make, message] of cases) assert.throws(make, { code: "INVALID_CONFIG", message });
});
