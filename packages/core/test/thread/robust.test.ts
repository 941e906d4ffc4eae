import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, CinchError, defineTool, Harness, memoryStore, type Store } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { call, hang, inTurn, say, script, scriptedBy } from "@cinch/testkit";
import * as z from "zod";
import { asking, gated, harness, missed, next, noting, onlyHere } from "../support.ts";
import { wrapped } from "../wrapped-store.ts";

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const busy = () => Promise.reject(new CinchError("STORE_BUSY", "busy"));

test("close() while an input is being appended rejects that sendMessage and nothing else", async () => {
  const appending = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  let isSent = false;
  const storage = wrapped(memoryStore(), (name) => {
    if (name !== "append" || !isSent) return undefined;
    appending.resolve();
    return held.promise;
  });
  const h = await harness({ model: script(say("x")), storage });
  await h.createThread();
  isSent = true;
  const sent = h.sendMessage({ content: "go" });
  const rejected = assert.rejects(sent, { code: "CLOSED" });
  await appending.promise;
  const closed = h.close();
  await pause(5);
  held.resolve();
  await closed;
  await rejected;
});

test("a turn whose store is full says that it waits for it, and goes on when there is space", async () => {
  let isFull = false;
  const full = () => Promise.reject(new CinchError("STORE_FULL", "No space is left."));
  const storage = wrapped(memoryStore(), (name) => (name === "append" && isFull ? full() : undefined));
  const model = scriptedBy(() => {
    isFull = true;
    return say("hi");
  });
  await using h = await harness({ model, storage });
  const turn = h.sendMessage({ content: "go" });
  const { message, waitsFor } = await next(h, "info");
  isFull = false;
  assert.deepEqual([message, waitsFor], ["Waiting for the store: No space is left.", "store"]);
  assert.equal((await turn).reason, "complete");
});

test("queued inputs run if resume() follows an abort at once", async () => {
  await using h = await harness({ model: script(inTurn(hang("…"), say("later done"))) });
  h.sendMessage({ content: "go" }).catch(() => undefined);
  await next(h, "message_update");
  const queued = h.sendMessage({ content: "later" });
  await next(h, "follow_up_queued");
  await h.abort();
  await h.resume();
  assert.equal((await queued).reason, "complete");
});

test("an abort right after a post ends the turn that the post begins", async () => {
  const { note, runs } = noting();
  await using h = await harness({ model: script(hang("…"), call("note", { what: "x" })), tools: { note } });
  await h.post({ content: "go", delivery: "send" });
  await h.abort();
  assert.deepEqual([h.getDisplayState().status, (await h.listInbox()).length, runs], ["idle", 0, []]);
});

test("an input that is accepted after an abort, while the turn still ends, is the next one and runs", async () => {
  const { gate, started } = gated();
  await using h = await harness({ model: script(call("gate"), say("new answer")), tools: { gate } });
  h.sendMessage({ content: "go" }).catch(() => undefined);
  await started;
  const aborted = h.abort();
  await next(h, "abort_requested");
  const { reason } = await h.sendMessage({ content: "new" });
  await aborted;
  assert.equal(reason, "complete");
});

const FAILED = onlyHere("a client asks for the result after the failure, and waits for the next driver");
test(
  "if a driver fails before there is a turn, waiting callers are rejected, and the next message can succeed",
  FAILED,
  async () => {
    let broken = true;
    const storage = wrapped(memoryStore(), (name) =>
      name === "lease" && broken ? Promise.reject(new CinchError("CORRUPT", "torn")) : undefined,
    );
    await using h = await harness({ model: script(say("fine"), say("fine")), storage });
    await assert.rejects(h.sendMessage({ content: "one" }), { code: "CORRUPT" });
    broken = false;
    assert.equal((await h.sendMessage({ content: "two" })).reason, "complete");
  },
);

test("a store that is busy for a moment delays a turn and loses nothing", async () => {
  let failures = 1;
  const storage = wrapped(memoryStore(), (name) => (name === "lease" && failures-- > 0 ? busy() : undefined));
  await using h = await harness({ model: script(say("fine")), storage });
  assert.equal((await h.sendMessage({ content: "one" })).reason, "complete");
});

test("a lease that could not be released is released later", async () => {
  let failures = 1;
  const data = new MemoryData();
  const storage = wrapped(memoryStore(data), (name) => (name === "release" && failures-- > 0 ? busy() : undefined));
  await using h = await harness({ model: script(say("one"), say("two")), storage });
  await h.sendMessage({ content: "first" });
  const [head] = data.blobs;
  data.blobs.clear();
  await using other = await harness({ model: script(say("one"), say("two")), storage });
  await other.selectOrCreateThread();
  assert.equal((await other.sendMessage({ content: "second" })).reason, "error");
  data.blobs.set(...head!);
  assert.equal((await other.sendMessage({ content: "third" })).reason, "complete");
});

for (const [what, config] of Object.entries({
  "a resolveModel": {
    agent: new Agent({ name: "a", model: "x/y" }),
    resolveModel: () => new Promise<never>(() => undefined),
  },
  instructions: {
    agent: new Agent({ name: "a", model: script(say("x")), instructions: () => new Promise<never>(() => undefined) }),
  },
})) {
  test(`${what} that never comes can be aborted and closed`, async () => {
    const h = new Harness({ id: "x", ...config });
    const turn = h.sendMessage({ content: "go" });
    await next(h, "step_start");
    await h.abort();
    assert.equal((await turn).reason, "aborted");
    const again = h.sendMessage({ content: "go" });
    const closed = assert.rejects(again, { code: "CLOSED" });
    await next(h, "step_start");
    await h.close();
    await closed;
  });
}

test("abort() returns when the thread is closed or deleted meanwhile", async () => {
  for (const end of [
    (h: Harness) => h.close(),
    (h: Harness) => h.deleteThread({ threadId: h.getCurrentThreadId()! }),
  ]) {
    const { gate, started } = gated();
    await using h = await harness({ model: script(call("gate")), tools: { gate } });
    h.sendMessage({ content: "go" }).catch(() => undefined);
    await started;
    const aborted = h.abort().catch(() => undefined);
    await next(h, "abort_requested");
    await end(h);
    await aborted;
  }
});

test("an abort of another session does not drop a message that is being accepted", async () => {
  const storage = wrapped(memoryStore(), (name) => (name === "append" ? pause(10) : undefined));
  await using h = await harness({ model: script(inTurn(hang("…"), say("mine done"))), storage });
  const { id } = await h.createThread();
  const other = await h.createSession({ threadId: id });
  h.sendMessage({ content: "go" }).catch(() => undefined);
  await next(h, "message_update");
  const aborted = h.abort();
  const mine = other.sendMessage({ content: "mine" });
  await aborted;
  assert.equal((await mine).reason, "complete");
});

test("a pending sendMessage stays pending when its session switches to another thread", async () => {
  await using h = await harness({
    model: script(call("ask", { question: "?" }), say("thanks")),
    tools: { ask: asking },
  });
  const { id } = await h.createThread();
  const turn = h.sendMessage({ content: "go" });
  await next(h, "tool_suspended");
  await h.createThread();
  await h.respondToToolSuspension({ threadId: id, resumeData: "yes" });
  assert.equal((await turn).reason, "complete");
});

test("a tool that finishes while the harness closes does not run again", missed(), async () => {
  const data = new MemoryData();
  let runs = 0;
  const began = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const slow = defineTool({
    description: "Finishes although its signal is aborted",
    effect: "idempotent",
    input: z.object({}),
    execute: async () => {
      runs++;
      began.resolve();
      await finish.promise;
      return "done";
    },
  });
  const h1 = await harness({ model: script(call("slow"), say("ok")), tools: { slow }, storage: memoryStore(data) });
  h1.sendMessage({ content: "go" }).catch(() => undefined);
  await began.promise;
  const closed = h1.close();
  await pause(10);
  finish.resolve();
  await closed;
  await using h2 = await harness({
    model: script(call("slow"), say("ok")),
    tools: { slow },
    storage: memoryStore(data),
  });
  const ended = next(h2, "agent_end");
  await h2.selectOrCreateThread();
  assert.equal((await ended).reason, "complete");
  assert.equal(runs, 1);
});

test("a second sendMessage with the same id, while the turn ends, gives the result of that turn", async () => {
  let slow = false;
  const storage = wrapped(memoryStore(), (name) => (name === "read" && slow ? pause(30) : undefined));
  const { gate, started, open } = gated();
  await using h = await harness({ model: script(call("gate"), say("done")), tools: { gate }, storage });
  const first = h.sendMessage({ content: "go", id: "a" });
  await started;
  slow = true;
  const second = h.sendMessage({ content: "go", id: "a" });
  open();
  assert.deepEqual(await second, await first);
});

const BUSY = onlyHere("a client asks again for events that can't be read now");
test("a subscriber whose past events can't be read gets a resync, and all later events", BUSY, async () => {
  let failing = false;
  const storage = wrapped(memoryStore(), (name) => (name === "read" && failing ? busy() : undefined));
  await using h = await harness({ model: script(say("one"), say("two")), storage });
  await h.sendMessage({ content: "first" });
  failing = true;
  const seen: string[] = [];
  h.subscribe((event) => void seen.push(event.type), { since: 2 });
  await next(h, "info");
  failing = false;
  await h.sendMessage({ content: "second" });
  assert.equal(seen[0], "resync");
  assert.ok(seen.includes("agent_end"));
});

test("events that another process appends while a thread is opened are seen", async () => {
  const data = new MemoryData();
  await using writer = await harness({ model: script(say("x")), storage: memoryStore(data) });
  const { id } = await writer.createThread({ title: "old" });
  const inner: Store = memoryStore(data);
  const late = new Proxy(inner, {
    get(target, name: keyof Store) {
      if (name !== "follow") return typeof target[name] === "function" ? target[name].bind(target) : target[name];
      return (...args: Parameters<Store["follow"]>) => {
        const event = { type: "thread_renamed" as const, v: 1, at: 1, title: "new" };
        inner.append(id, [event], { afterSeq: 1 }).catch(() => undefined);
        return target.follow(...args);
      };
    },
  });
  await using h = await harness({ model: script(say("x")), storage: late });
  await h.switchThread({ threadId: id });
  assert.equal(h.getDisplayState().title, "new");
});

test("a failed init can be retried", async () => {
  let failures = 1;
  const storage = wrapped(memoryStore(), (name) => (name === "open" && failures-- > 0 ? busy() : undefined));
  const h = new Harness({ id: "x", storage, agent: new Agent({ name: "a", model: script(say("hi")) }) });
  await assert.rejects(h.init(), { code: "STORE_BUSY" });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  await h.close();
});

test("the rejection of an async subscriber is reported once", async () => {
  await using h = await harness({ model: script(say("fine")) });
  h.subscribe(async () => {
    throw new Error("bad async listener");
  });
  await h.sendMessage({ content: "go" });
  await pause(5);
  const reports = h.seen.filter((event) => event.type === "info" && event.message.includes("bad async listener"));
  assert.equal(reports.length, 1);
});

test("events() misses nothing that happens between the call and the first read", async () => {
  await using h = await harness({ model: script(say("hi")) });
  await h.createThread();
  const events = h.events();
  await h.sendMessage({ content: "go" });
  const first = await events.next();
  assert.equal(first.value?.type, "input_accepted");
  await events.return();
});

test("closing a session does not wait for its turn, and the turn still completes", async () => {
  const { gate, started, open } = gated();
  await using h = await harness({ model: script(call("gate"), say("done")), tools: { gate } });
  const session = await h.createSession();
  const turn = session.sendMessage({ content: "go" });
  await started;
  await session.close();
  open();
  assert.equal((await turn).reason, "complete");
});
