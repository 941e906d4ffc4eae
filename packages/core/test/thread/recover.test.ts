import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool, memoryStore, type HarnessEvent } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { stamp } from "@cinch/core/journal";
import { systemClock } from "../../src/ports/clock.ts";
import { call, hang, inTurn, say, script, type ScriptedModel } from "@cinch/testkit";
import * as z from "zod";
import { asking, gated, harness, next, texts } from "../support.ts";

/** Runs a turn until `ready`, and then simulates the death of its process. */
async function cutOff(
  data: MemoryData,
  model: ScriptedModel,
  tools: Record<string, ReturnType<typeof defineTool>>,
  ready: Promise<unknown>,
) {
  const storage = memoryStore(data);
  const h = await harness({ model, tools, storage });
  const turn = h.sendMessage({ content: "go" });
  turn.catch(() => undefined);
  await ready;
  storage.die();
}

const ends = (events: readonly HarnessEvent[]) =>
  events.flatMap((event) =>
    event.type === "tool_end" ? [{ content: event.result.content, unknown: event.unknown ?? false }] : [],
  );

for (const { effect, again } of [
  { effect: "once", again: false },
  { effect: "pure", again: true },
  { effect: "idempotent", again: true },
] as const) {
  test(`a call with effect "${effect}" that a crash interrupted is ${again ? "run again with the same key" : "reported as unknown"}`, async () => {
    const data = new MemoryData();
    const first = gated(effect);
    await cutOff(data, script(call("gate"), say("done")), { gate: first.gate }, first.started);
    const second = gated(effect);
    second.open();
    await using h = await harness({
      model: script(call("gate"), say("done")),
      tools: { gate: second.gate },
      storage: memoryStore(data),
    });
    const ended = next(h, "agent_end");
    await h.selectOrCreateThread();
    assert.equal((await ended).reason, "complete");
    assert.deepEqual(second.runs, again ? first.runs : []);
    const unknown = {
      content: "The process died while this ran. Its outcome is unknown: verify before retrying.",
      unknown: true,
    };
    assert.deepEqual(ends(h.seen), [again ? { content: "through", unknown: false } : unknown]);
    assert.deepEqual(
      h.seen.flatMap((event) =>
        event.type === "agent_start" ? [{ resumed: event.resumed, takeover: event.takeover }] : [],
      ),
      [{ resumed: true, takeover: true }],
    );
  });
}

for (const policy of ["deny", "ask"] as const) {
  test(`an interrupted call does not run again if a rule with "${policy}" is set at the last moment`, async () => {
    const data = new MemoryData();
    const first = gated("pure");
    await cutOff(data, script(call("gate"), say("done")), { gate: first.gate }, first.started);
    const store = memoryStore(data);
    const append = store.append.bind(store);
    let isLate = false;
    store.append = async (threadId, events, options) => {
      if (!isLate && events.some(({ type }) => type === "tool_start")) {
        isLate = true;
        const rule = stamp({ type: "permission_changed", rule: { toolName: "gate", policy } }, 1);
        await memoryStore(data).append(threadId, [rule], { afterSeq: options.afterSeq });
      }
      return append(threadId, events, options);
    };
    const second = gated("pure");
    second.open();
    await using h = await harness({
      model: script(call("gate"), say("done")),
      tools: { gate: second.gate },
      storage: store,
    });
    const over = Promise.race([next(h, "agent_end"), next(h, "tool_approval_required")]);
    await h.selectOrCreateThread();
    await over;
    assert.deepEqual([isLate, second.runs], [true, []]);
  });
}

test("an input that was accepted before the crash is answered after it", async () => {
  const data = new MemoryData();
  const dead = memoryStore(data);
  const h1 = await harness({ model: script(hang()), storage: dead });
  const started = next(h1, "agent_start");
  h1.sendMessage({ content: "one" }).catch(() => undefined);
  await started;
  await h1.followUp({ content: "two" });
  dead.die();
  await using h2 = await harness({ model: script(say("first"), say("second")), storage: memoryStore(data) });
  const both = next(h2, "agent_end").then(() => next(h2, "agent_end"));
  await h2.selectOrCreateThread();
  await both;
  const messages = await h2.listMessages();
  assert.deepEqual(
    messages.map(({ role, content }) => [role, content.map((part) => ("text" in part ? part.text : part.type)).join()]),
    [
      ["user", "one"],
      ["assistant", "first"],
      ["user", "two"],
      ["assistant", "second"],
    ],
  );
});

test("a message that was streaming is shown as interrupted, and left out of the prompt", async () => {
  const data = new MemoryData();
  const dead = memoryStore(data);
  const h1 = await harness({ model: script(hang("half a sen")), storage: dead });
  h1.sendMessage({ content: "go" }).catch(() => undefined);
  await next(h1, "message_update");
  while ((await dead.draft(h1.getCurrentThreadId()!)).length === 0)
    await new Promise((resolve) => setTimeout(resolve, 20));
  dead.die();
  const model = script(say("whole"));
  await using h2 = await harness({ model, storage: memoryStore(data) });
  const ended = next(h2, "agent_end");
  await h2.selectOrCreateThread();
  await ended;
  assert.deepEqual(texts(h2.seen), ["assistant: half a sen", "assistant: whole"]);
  assert.deepEqual(model.requests[0]!.prompt.slice(1), [{ role: "user", content: [{ type: "text", text: "go" }] }]);
});

test("a pending question can be answered in another process, days later", async () => {
  const data = new MemoryData();
  const dead = memoryStore(data);
  const steps = () => script(call("ask", { question: "Which?" }), say("thanks"));
  const h1 = await harness({ model: steps(), tools: { ask: asking }, storage: dead });
  h1.sendMessage({ content: "go" }).catch(() => undefined);
  await next(h1, "tool_suspended");
  dead.die();
  await using h2 = await harness({ model: steps(), tools: { ask: asking }, storage: memoryStore(data) });
  await h2.selectOrCreateThread();
  assert.equal(h2.getDisplayState().status, "waiting");
  const ended = next(h2, "agent_end");
  await h2.respondToToolSuspension({ resumeData: "SQLite" });
  assert.equal((await ended).reason, "complete");
  assert.deepEqual(ends(h2.seen), [{ content: "answer: SQLite", unknown: false }]);
});

test('onRecover: "pause" parks an interrupted turn until resume()', async () => {
  const data = new MemoryData();
  const { gate, started } = gated();
  await cutOff(data, script(call("gate"), say("done")), { gate }, started);
  await using h = await harness({
    model: script(call("gate"), say("done")),
    tools: { gate },
    storage: memoryStore(data),
    onRecover: "pause",
  });
  await h.selectOrCreateThread();
  const { status, lastError } = h.getDisplayState();
  assert.deepEqual([status, lastError?.code], ["parked", "PARKED"]);
  const ended = next(h, "agent_end");
  await h.resume();
  assert.equal((await ended).reason, "complete");
});

test("a process that reads an answer late does not continue a turn that waits again by now", async () => {
  const data = new MemoryData();
  const steps = () => script(call(["ask", { question: "1" }, "a"], ["ask", { question: "2" }, "b"]), say("done"));
  await using h1 = await harness({ model: steps(), tools: { ask: asking }, storage: memoryStore(data) });
  const { id } = await h1.createThread();
  // The second process reads the answer, and nothing after it until it asks for the lease.
  const slow = memoryStore(data);
  const lease = slow.lease.bind(slow);
  const read = slow.read.bind(slow);
  const waits = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  let isLate = false;
  slow.lease = async (threadId) => {
    isLate = true;
    await waits.promise;
    setImmediate(late.resolve);
    return lease(threadId);
  };
  slow.read = async (threadId, range) => {
    if (isLate) await late.promise;
    return read(threadId, range);
  };
  await using h2 = await harness({ model: steps(), tools: { ask: asking }, storage: slow });
  h1.sendMessage({ content: "go" }).catch(() => undefined);
  while (Object.keys(h1.getDisplayState().pendingSuspensions).length < 2) await next(h1, "tool_suspended");
  await h2.switchThread({ threadId: id });
  const ended = next(h1, "tool_end");
  await h1.respondToToolSuspension({ toolCallId: "a", resumeData: "x" });
  await ended;
  assert.equal(isLate, true);
  waits.resolve();
  await late.promise;
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal((await read(id)).at(-1)?.type, "tool_end");
  assert.deepEqual([h1.getDisplayState().status, h2.getDisplayState().status], ["waiting", "waiting"]);
});

test("three takeovers without progress park the thread; resume() continues the turn, and abort() ends it", async () => {
  for (const choice of ["resume", "abort"] as const) {
    const data = new MemoryData();
    const dying = () => inTurn(hang(), say("done"));
    for (let run = 0; run < 4; run++) {
      const store = memoryStore(data);
      const h = await harness({ model: script(dying()), storage: store });
      const asked = next(h, "message_start");
      if (run === 0) h.sendMessage({ content: "go" }).catch(() => undefined);
      else await h.selectOrCreateThread();
      await asked;
      store.die();
    }
    await using h = await harness({ model: script(say("done")), storage: memoryStore(data) });
    const parked = next(h, "error");
    await h.selectOrCreateThread();
    assert.equal((await parked).code, "PARKED");
    assert.equal(h.getDisplayState().status, "parked");
    await h.followUp({ content: "queued meanwhile" });
    assert.equal(h.getDisplayState().status, "parked");
    const ended = next(h, "agent_end");
    await (choice === "resume" ? h.resume() : h.abort());
    assert.equal((await ended).reason, choice === "resume" ? "complete" : "aborted");
  }
});

test("progress resets the count of takeovers: a long turn whose drivers die now and then is never parked", async () => {
  const data = new MemoryData();
  const tick = defineTool({ description: "Ticks", effect: "pure", input: z.object({}), execute: () => "tick" });
  const steps = Array.from({ length: 8 }, () => call("tick"));
  for (let run = 0; run < 7; run++) {
    const store = memoryStore(data);
    const h = await harness({ model: script(...steps, say("done")), tools: { tick }, storage: store });
    const ticked = next(h, "tool_end");
    if (run === 0) h.sendMessage({ content: "go" }).catch(() => undefined);
    else await h.selectOrCreateThread();
    await ticked;
    store.die();
  }
  await using h = await harness({ model: script(...steps, say("done")), tools: { tick }, storage: memoryStore(data) });
  const ended = next(h, "agent_end");
  await h.selectOrCreateThread();
  assert.equal((await ended).reason, "complete");
});

test('recover: "all" continues threads that no session has opened', async () => {
  const data = new MemoryData();
  const first = gated("pure");
  await cutOff(data, script(call("gate"), say("done")), { gate: first.gate }, first.started);
  const second = gated("pure");
  await using h = await harness({
    model: script(call("gate"), say("done")),
    tools: { gate: second.gate },
    storage: memoryStore(data),
    recover: "all",
  });
  await second.started;
  second.open();
  const ended = next(h, "agent_end").catch(() => undefined);
  await h.selectOrCreateThread();
  while (h.getDisplayState().status !== "idle") await Promise.race([ended, next(h, "display_state_changed")]);
  assert.deepEqual(h.getDisplayState().messages.at(-1)?.content, [{ type: "text", text: "done" }]);
});

test("close() leaves the turn to the next process that opens the thread, and is not a takeover", async () => {
  const data = new MemoryData();
  const { gate, started } = gated("idempotent");
  const h1 = await harness({ model: script(call("gate"), say("done")), tools: { gate }, storage: memoryStore(data) });
  const turn = h1.sendMessage({ content: "go" });
  const closed = assert.rejects(turn, { code: "CLOSED" });
  await started;
  await h1.close();
  await closed;
  const later = gated("idempotent");
  later.open();
  await using h2 = await harness({
    model: script(call("gate"), say("done")),
    tools: { gate: later.gate },
    storage: memoryStore(data),
  });
  const ended = next(h2, "agent_end");
  await h2.selectOrCreateThread();
  assert.equal((await ended).reason, "complete");
  assert.deepEqual(
    h2.seen.flatMap((event) => (event.type === "agent_start" ? [event.takeover] : [])),
    [undefined],
  );
});

test("a display skips an event of a newer release, and a driver refuses the thread", async () => {
  const data = new MemoryData();
  const store = memoryStore(data);
  await using h = await harness({ model: script(say("x")), storage: store });
  const { id } = await h.createThread({ title: "kept" });
  const future = { type: "thread_renamed", v: 9, at: 1, title: { en: "?" } } as never;
  await store.append(id, [future], { afterSeq: 1 });
  await using later = await harness({ model: script(say("x")), storage: memoryStore(data) });
  await later.switchThread({ threadId: id });
  assert.deepEqual([later.getDisplayState().title, later.getDisplayState().seq], ["kept", 2]);
  await assert.rejects(later.sendMessage({ content: "go" }), { code: "STORE_NEWER" });
});

test("a turn that a corrupt store makes impossible ends once, with a typed error, and a later turn can succeed", async () => {
  const data = new MemoryData();
  await using h = await harness({ model: script(say("one"), say("two")), storage: memoryStore(data) });
  await h.sendMessage({ content: "first" });
  await using later = await harness({ model: script(say("one"), say("two")), storage: memoryStore(data) });
  const [head] = data.blobs;
  data.blobs.clear();
  await later.selectOrCreateThread();
  const { reason, error } = await later.sendMessage({ content: "second" });
  assert.deepEqual([reason, error?.code], ["error", "CORRUPT"]);
  assert.equal(later.seen.filter((event) => event.type === "agent_start").length, 1);
  data.blobs.set(...head!);
  assert.equal((await later.sendMessage({ content: "third" })).reason, "complete");
});

test("a driver that was stopped right after it had written tool_start, and replaced, does not run the tool when it continues", async () => {
  for (const jump of [10_000, -3_600_000]) {
    const data = new MemoryData();
    let offset = 0;
    const clock = { ...systemClock, now: () => Date.now() + offset };
    const { gate, runs, open } = gated();
    open();
    await using h = await harness({
      model: script(call("gate"), say("done")),
      tools: { gate },
      storage: memoryStore(data),
      clock,
    });
    h.subscribe((event) => {
      if (event.type !== "tool_start") return;
      // As if this process were suspended here, and another had taken over meanwhile.
      offset += jump;
      const lease = data.leases.get(event.threadId)!;
      data.leases.set(event.threadId, { epoch: lease.epoch + 1, holder: memoryStore(data) });
    });
    await h.post({ content: "go", delivery: "send" });
    await next(h, "tool_start");
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(runs, []);
  }
});

test('recover: "all" continues the other threads if one cannot be opened', async () => {
  const data = new MemoryData();
  const first = gated("pure");
  await cutOff(data, script(call("gate"), say("done")), { gate: first.gate }, first.started);
  const broken = [...data.threads.keys()][0]!;
  await using h = await harness({ model: script(say("fine")), storage: memoryStore(data) });
  await h.createThread();
  const thread = data.threads.get(broken)!;
  thread.journal[0] = { ...thread.journal[0]!, json: "{" };
  await using later = await harness({ model: script(say("fine")), storage: memoryStore(data), recover: "all" });
  await later.createThread();
  assert.equal((await later.sendMessage({ content: "go" })).reason, "complete");
});
