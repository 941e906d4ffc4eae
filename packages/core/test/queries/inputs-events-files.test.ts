import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CinchError, defineTool, type DurableEvent, type HarnessEvent } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, say, script, scriptedBy } from "@cinch/testkit";
import * as z from "zod";
import { gated, harness, next, onlyHere } from "../support.ts";

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

const talkative = () => scriptedBy(() => say("yes"));

describe("resultOf says what became of an input", () => {
  test("while its turn runs, and after it, with the result of sendMessage", async () => {
    const { gate, started, open } = gated();
    await using h = await harness({ model: script(call("gate", {}), say("through"), say("next")), tools: { gate } });
    const { inputId } = await h.post({ content: "go", delivery: "send" });
    await started;
    const { inputId: queued } = await h.followUp({ content: "then" });
    const early = [h.resultOf({ inputId }), h.resultOf({ inputId: queued })];
    open();
    const results = await Promise.all(early);
    assert.deepEqual(
      results.map(({ reason, message }) => [reason, message?.content]),
      [
        ["complete", [{ type: "text", text: "through" }]],
        ["complete", [{ type: "text", text: "next" }]],
      ],
    );
    assert.deepEqual(await Promise.all([h.resultOf({ inputId }), h.resultOf({ inputId: queued })]), results);
    assert.deepEqual(await h.sendMessage({ content: "again", id: "mine" }), await h.resultOf({ inputId: "mine" }));
  });

  test("after a restart, and in another process while the turn waits", async () => {
    const data = new MemoryData();
    const ask = () => ({ category: "other" as const, policy: "ask" as const });
    const { gate, open } = gated();
    open();
    const model = () => scriptedBy(({ prompt }) => (prompt.at(-1)?.role === "tool" ? say("done") : call("gate", {})));
    const options = () => ({ model: model(), tools: { gate }, permissions: [ask()], storage: new MemoryStore(data) });
    const first = await harness(options());
    const { inputId } = await first.post({ content: "go", delivery: "send" });
    const threadId = first.getCurrentThreadId()!;
    await first.settled();
    await first.close();
    await using second = await harness(options());
    await using third = await harness(options());
    await second.switchThread({ threadId });
    const there = await third.createSession({ threadId });
    const waiting = there.resultOf({ inputId });
    await second.respondToToolApproval({ decision: "approve" });
    const { reason, message } = await waiting;
    assert.deepEqual([reason, message?.content], ["complete", [{ type: "text", text: "done" }]]);
    assert.deepEqual(await second.resultOf({ inputId }), await waiting);
  });

  test("until its signal is aborted: then it rejects with the reason, and the turn continues", async () => {
    const { gate, started, open } = gated();
    const data = new MemoryData();
    const model = script(call("gate", {}), say("through"));
    await using h = await harness({ model, tools: { gate }, storage: new MemoryStore(data) });
    const { inputId } = await h.post({ content: "go", delivery: "send" });
    await started;
    await using other = await harness({ model: script(), storage: new MemoryStore(data) });
    const there = await other.createSession({ threadId: h.getCurrentThreadId()! });
    const over = new AbortController();
    const waiting = there.resultOf({ inputId, signal: over.signal });
    const aborted = there.resultOf({ inputId, signal: AbortSignal.abort("too late") });
    await assert.rejects(aborted, (reason) => reason === "too late");
    over.abort(new Error("enough"));
    await assert.rejects(waiting, /enough/);
    open();
    assert.equal((await h.resultOf({ inputId, signal: new AbortController().signal })).reason, "complete");
  });

  const KEPT = onlyHere("a server keeps its sessions open for a while");
  test("and a thread is not kept open for a caller that has stopped waiting", KEPT, async () => {
    const { gate, started } = gated();
    const data = new MemoryData();
    await using h = await harness({ model: script(call("gate", {})), tools: { gate }, storage: new MemoryStore(data) });
    const { inputId } = await h.post({ content: "go", delivery: "send" });
    await started;
    const storage = new FollowedStore(data);
    await using other = await harness({ model: script(), storage });
    const threadId = h.getCurrentThreadId()!;
    const there = await other.createSession({ threadId });
    const over = new AbortController();
    const waiting = there.resultOf({ inputId, signal: over.signal });
    // Commands run in order: when this one has run, the caller waits.
    await there.listInbox();
    await there.close();
    assert.equal(storage.followed.has(threadId), true);
    over.abort();
    await assert.rejects(waiting, { name: "AbortError" });
    while (storage.followed.has(threadId)) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  test("that was removed, dropped or reverted: aborted, as sendMessage says", async () => {
    const { gate, started, open } = gated();
    await using h = await harness({ model: script(call("gate", {}), say("through"), say("never")), tools: { gate } });
    await h.post({ content: "go", delivery: "send" });
    await started;
    const { seq: toSeq } = h.getDisplayState();
    const { inputId: removed } = await h.followUp({ content: "a" });
    const { inputId: reverted } = await h.followUp({ content: "b", id: "chosen" });
    await h.removeInput({ inputId: removed });
    const aborted = { reason: "aborted", message: null };
    const early = h.resultOf({ inputId: reverted });
    await h.rewind({ toSeq });
    open();
    assert.deepEqual(await early, aborted);
    assert.deepEqual(await h.resultOf({ inputId: reverted }), aborted);
    assert.deepEqual(await h.resultOf({ inputId: removed }), aborted);
  });

  test("that a retry was: the result of its turn", async () => {
    let isBroken = true;
    const model = scriptedBy(() => (isBroken ? { error: { statusCode: 400, message: "no" } } : say("yes")) as never);
    await using h = await harness({ model });
    await h.sendMessage({ content: "go" });
    isBroken = false;
    const result = await h.retry();
    const retried = h.seen.findLast((event) => event.type === "input_accepted");
    assert.ok(retried?.type === "input_accepted" && retried.retry);
    assert.deepEqual(await h.resultOf({ inputId: retried.inputId }), result);
  });

  test("that the thread never accepted: INVALID_INPUT, which names it", async () => {
    await using h = await harness({ model: talkative() });
    const { inputId } = await h.post({ content: "go", delivery: "send" });
    await h.settled();
    await h.createThread();
    await assert.rejects(h.resultOf({ inputId }), { code: "INVALID_INPUT", message: new RegExp(inputId) });
  });
});

describe("listEvents", () => {
  test("pages through all durable events, in order, without gaps", async () => {
    await using h = await harness({ model: talkative() });
    for (const content of ["a", "b", "c"]) await h.sendMessage({ content });
    const all: DurableEvent[] = [];
    for (let page = await h.listEvents({ limit: 4 }); page.length > 0;) {
      assert.ok(page.length <= 4);
      all.push(...page);
      page = await h.listEvents({ after: all.at(-1)!.seq, limit: 4 });
    }
    assert.deepEqual(
      all.map(({ seq }) => seq),
      all.map((_, at) => at + 1),
    );
    const durable = h.seen.filter((event): event is HarnessEvent & DurableEvent => "seq" in event && "v" in event);
    assert.deepEqual(all.slice(-durable.length), durable);
  });

  test("ends a page before it holds a million characters, but not before its first event", async () => {
    const long = defineTool({
      description: "Prints a lot",
      category: "read",
      input: z.object({ chars: z.number() }),
      execute: ({ chars }) => ({ content: "x".repeat(70_000), details: { text: "y".repeat(chars) } }),
    });
    const calls = Array.from({ length: 8 }, (): [string, object] => ["long", { chars: 300_000 }]);
    const model = script(call(...calls), call("long", { chars: 990_000 }), say("done"));
    await using h = await harness({ model, tools: { long } });
    await h.sendMessage({ content: "go" });
    const sizes: number[] = [];
    let after = 0;
    for (let page = await h.listEvents(); page.length > 0; page = await h.listEvents({ after })) {
      after = page.at(-1)!.seq;
      if (page.length > 1) sizes.push(JSON.stringify(page).length);
    }
    assert.equal(after, h.getDisplayState().seq);
    assert.ok(sizes.length > 2 && Math.max(...sizes) < 1_001_000, `pages of ${sizes.join(", ")} characters`);
  });
});

describe("readBlob", () => {
  const bytes = new Uint8Array([1, 2, 3]);
  const shot = defineTool({
    description: "Takes a picture",
    category: "read",
    input: z.object({}),
    execute: () => ({ content: [{ type: "file", mediaType: "image/png", data: new Uint8Array([9]) }] }),
  });
  const hashOf = async (of: Uint8Array<ArrayBuffer>) =>
    Buffer.from(await crypto.subtle.digest("SHA-256", of)).toString("hex");

  test("gives the files of messages, queued inputs and results, also to a clone", async () => {
    await using h = await harness({ model: script(call("shot", {}), say("seen")), tools: { shot } });
    await h.sendMessage({ content: "look", files: [{ mediaType: "image/gif", data: bytes, filename: "a.gif" }] });
    await h.cloneThread();
    const own = await h.readBlob({ hash: await hashOf(bytes) });
    assert.deepEqual(own && { ...own, bytes: [...own.bytes] }, {
      bytes: [1, 2, 3],
      mediaType: "image/gif",
      filename: "a.gif",
    });
    const taken = await h.readBlob({ hash: await hashOf(new Uint8Array([9])) });
    assert.deepEqual(taken && [...taken.bytes, taken.mediaType, taken.filename], [9, "image/png", null]);
  });

  test("keeps the parameters of a file's type", async () => {
    await using h = await harness({ model: script(say("seen"), say("seen")) });
    for (const mediaType of ["text/plain; charset=utf-8", 'text/csv;header="with names"']) {
      const data = new TextEncoder().encode(mediaType);
      await h.sendMessage({ content: "look", files: [{ mediaType, data }] });
      assert.equal((await h.readBlob({ hash: await hashOf(data) }))!.mediaType, mediaType);
    }
  });

  test("gives neither a head of a prompt, nor a file of another thread, nor one that a rewind reverted", async () => {
    await using h = await harness({ model: talkative() });
    const { id: threadId } = await h.createThread();
    const { seq: toSeq } = h.getDisplayState();
    await h.sendMessage({ content: "look", files: [{ mediaType: "image/gif", data: bytes }] });
    const head = h.seen.find((event) => event.type === "prompt_head");
    assert.ok(head?.type === "prompt_head");
    const hash = await hashOf(bytes);
    assert.equal(await h.readBlob({ hash: head.blob }), null);
    assert.equal(await h.readBlob({ hash: "none" }), null);
    await h.createThread();
    assert.equal(await h.readBlob({ hash }), null);
    await h.switchThread({ threadId });
    assert.ok(await h.readBlob({ hash }));
    await h.rewind({ toSeq });
    assert.equal(await h.readBlob({ hash }), null);
  });
});

test("resultOf rejects for an input whose thread can't be driven, also if that was known before", async () => {
  class TornStore extends MemoryStore {
    isTorn = true;
    override async lease(threadId: string) {
      if (this.isTorn) throw new CinchError("CORRUPT", "The page is torn.");
      return super.lease(threadId);
    }
  }
  const storage = new TornStore(new MemoryData());
  await using h = await harness({ model: script(say("done")), storage });
  await h.createThread();
  const failed = next(h, "info");
  const { inputId } = await h.post({ content: "go", delivery: "send" });
  assert.match((await failed).message, /can't continue.*torn/);
  await assert.rejects(h.resultOf({ inputId }), onlyCode);
  await assert.rejects(h.resultOf({ inputId }), onlyCode);
  storage.isTorn = false;
  await h.renameThread({ title: "a command tries again" });
  assert.equal((await h.resultOf({ inputId })).reason, "complete");
});

/** A server answers with `INTERNAL` for what its callers can't change. */
const onlyCode = (error: unknown) => error instanceof CinchError && ["CORRUPT", "INTERNAL"].includes(error.code);
