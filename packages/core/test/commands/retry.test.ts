import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { textOf, type HarnessEvent } from "@cinch/core";
import { call, fail, hang, inTurn, say, script } from "@cinch/testkit";
import { DyingStore } from "../dying-store.ts";
import { gated, harness, next, noting, onlyHere, texts } from "../support.ts";

const bad = fail(Object.assign(new Error("bad request"), { statusCode: 400 }));

const reasons = (events: readonly HarnessEvent[]) =>
  events.flatMap((event) => (event.type === "agent_end" ? [event.reason] : []));

test("retry continues after a turn that ended with an error, without a new message", async () => {
  await using h = await harness({ model: script(inTurn(bad, say("Here."))) });
  assert.equal((await h.sendMessage({ content: "hi" })).reason, "error");
  const { reason, message, finishReason } = await h.retry();
  assert.deepEqual([reason, textOf(message!.content), finishReason], ["complete", "Here.", "stop"]);
  assert.deepEqual(texts(h.seen), ["user: hi", "assistant: Here."]);
  assert.deepEqual([await h.listInbox(), h.getDisplayState().lastError], [[], null]);
});

test("retry continues after a turn that reached its limit, with the results of its calls", async () => {
  const { note, runs } = noting();
  const model = script(call("note", { what: "one" }), call("note", { what: "two" }), say("done"));
  await using h = await harness({ model, tools: { note }, maxSteps: 1 });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "max_steps");
  assert.equal((await h.retry()).reason, "max_steps");
  const { reason, message } = await h.retry();
  assert.deepEqual([reason, textOf(message!.content), runs.length], ["complete", "done", 2]);
});

test("after an abort, an interrupted call keeps its result, and a retry does not run it again", async () => {
  const { gate, runs, started, open } = gated();
  await using h = await harness({ model: script(call("gate"), say("I see.")), tools: { gate } });
  const turn = h.sendMessage({ content: "go" });
  await started;
  await h.followUp({ content: "later" });
  const accepted = next(h, "abort_requested");
  const aborted = h.abort();
  await accepted;
  open();
  await aborted;
  assert.equal((await turn).reason, "aborted");
  const ends = h.seen.filter(({ type }) => type === "tool_end").length;
  const { reason, message } = await h.retry();
  assert.deepEqual([reason, textOf(message!.content)], ["complete", "I see."]);
  assert.equal(h.seen.filter(({ type }) => type === "tool_end").length, ends);
  assert.equal(runs.length, 1);
  // The input that was queued behind the aborted turn comes after it.
  assert.deepEqual((await h.settled()).status, "idle");
  assert.ok(texts(h.seen).includes("user: later"));
});

test("on a thread where nothing failed, and while a turn runs, retry is INVALID_INPUT and changes nothing", async () => {
  const { gate, started, open } = gated();
  const model = script(say("hello"), call("gate"), say("through"));
  await using h = await harness({ model, tools: { gate } });
  await assert.rejects(h.retry(), { code: "INVALID_INPUT" });
  await h.sendMessage({ content: "hi" });
  await assert.rejects(h.retry(), { code: "INVALID_INPUT", message: /complete/ });
  const turn = h.sendMessage({ content: "go" });
  await started;
  await assert.rejects(h.retry(), { code: "INVALID_INPUT", message: /under way/ });
  open();
  await turn;
  const { seq } = h.getDisplayState();
  await assert.rejects(h.retry(), { code: "INVALID_INPUT" });
  assert.equal(h.getDisplayState().seq, seq);
});

test("two sessions that retry at once share one turn", async () => {
  const data = new MemoryData();
  const model = script(inTurn(bad, say("slowly", { delayMs: 5 })));
  await using first = await harness({ model, storage: new MemoryStore(data) });
  const { id: threadId } = await first.createThread();
  await using second = await harness({ model, storage: new MemoryStore(data) });
  await second.switchThread({ threadId });
  await first.sendMessage({ content: "hi" });
  const results = await Promise.all([first.retry(), second.retry()]);
  assert.deepEqual(
    results.map(({ reason }) => reason),
    ["complete", "complete"],
  );
  assert.deepEqual(reasons(first.seen), ["error", "complete"]);
  assert.equal(model.requests.length, 2);
});

test("a retry is shown as running from its acceptance on, and can be aborted", async () => {
  await using h = await harness({ model: script(inTurn(bad, hang("well"))) });
  await h.sendMessage({ content: "hi" });
  const shown: unknown[] = [];
  h.subscribe(({ type }) => {
    const { status, lastError } = h.getDisplayState();
    if (type === "input_accepted") shown.push([status, lastError]);
  });
  // Over a connection both may arrive at once.
  const [accepted, updated] = [next(h, "input_accepted"), next(h, "message_update")];
  const turn = h.retry();
  await accepted;
  assert.deepEqual(shown, [["running", null]]);
  await updated;
  await h.abort();
  assert.equal((await turn).reason, "aborted");
  assert.equal(h.getDisplayState().status, "idle");
});

const DEATHS = { ...onlyHere("a store that dies does not end its server") };
test("an accepted retry runs once, wherever the process dies", DEATHS, async () => {
  for (let nth = 1; ; nth++) {
    const data = new MemoryData();
    const storage = new DyingStore(data);
    const { note, runs } = noting();
    const model = script(inTurn(bad, call("note", { what: "it" })), say("done"));
    const dying = await harness({ model, storage, tools: { note } });
    await dying.sendMessage({ content: "hi" });
    storage.dieAt({ nth, place: "after" });
    const retried = dying.retry().then(
      () => "settled",
      () => "lost",
    );
    const fate = await retried;
    await dying.close().catch(() => undefined);
    await using h = await harness({ model, storage: new MemoryStore(data), tools: { note } });
    await h.selectOrCreateThread();
    const accepted = await new MemoryStore(data).read(h.getCurrentThreadId()!);
    await h.settled();
    const isAccepted = accepted.some((event) => event.type === "input_accepted" && event.retry !== undefined);
    const said = h.getDisplayState().messages.map(({ role }) => role);
    if (isAccepted) assert.deepEqual(said, ["user", "assistant", "assistant"], `died at ${nth}`);
    else assert.deepEqual(said, ["user"], `died at ${nth}`);
    assert.ok(runs.length <= 1, `ran ${runs.length} times, died at ${nth}`);
    if (fate === "settled" && !storage.isDead) break;
  }
});

/** Calls back when a turn has ended with an error, before its driver gets the result of the append. */
class TellingStore extends MemoryStore {
  failed: (() => Promise<void>) | undefined;
  override async append(...args: Parameters<MemoryStore["append"]>): ReturnType<MemoryStore["append"]> {
    const result = await super.append(...args);
    const tell = this.failed;
    if (!tell || !args[1].some((event) => event.type === "agent_end" && event.reason === "error")) return result;
    this.failed = undefined;
    await tell();
    return result;
  }
}

test("a retry that is accepted before the next input is taken begins like any other turn", async () => {
  const data = new MemoryData();
  const storage = new TellingStore(data);
  const model = script(inTurn(bad, say("Here.")), say("Later."));
  await using h = await harness({ model, storage });
  const { id: threadId } = await h.createThread();
  await using other = await harness({ model, storage: new MemoryStore(data) });
  const retried = Promise.withResolvers<unknown>();
  storage.failed = async () => {
    await other.switchThread({ threadId });
    const accepted = next(other, "input_accepted");
    retried.resolve(other.retry());
    await accepted;
  };
  await Promise.all([h.sendMessage({ content: "hi" }), h.followUp({ content: "later" })]);
  await retried.promise;
  await h.settled();
  const events = await new MemoryStore(data).read(threadId);
  const begun = new Set(events.flatMap(({ type, turnId }) => (type === "agent_start" ? [turnId] : [])));
  const ended = events.flatMap((event) =>
    event.type === "agent_end" ? [[event.reason, begun.has(event.turnId)]] : [],
  );
  assert.deepEqual(ended, [
    ["error", true],
    ["complete", true],
    ["complete", true],
  ]);
});
