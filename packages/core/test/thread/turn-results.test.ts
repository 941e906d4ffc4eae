import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, CinchError, Harness, type Store } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, hang, say, scriptedBy } from "@cinch/testkit";
import { gated, harness, next } from "../support.ts";
import { wrapped } from "../wrapped-store.ts";

/** Does not hear of what others append. */
class DeafStore extends MemoryStore {
  override follow(): () => void {
    return () => undefined;
  }
}

/** A process that is deaf waits for its message `mine`, whose turn another process has driven to its end. */
async function answeredElsewhere(storeOf = (data: MemoryData): Store => new DeafStore(data)) {
  const data = new MemoryData();
  const { gate, started, open } = gated();
  const model = () =>
    scriptedBy(({ prompt }) => {
      const last = JSON.stringify(prompt.at(-1));
      if (last.includes("wait")) return call("gate");
      return last.includes("stop me") ? hang("well") : say("ok");
    });
  const other = await harness({ model: model(), tools: { gate }, storage: new MemoryStore(data) });
  const { id: threadId } = await other.createThread();
  const first = other.sendMessage({ content: "wait" });
  await started;
  const deaf = await harness({ model: model(), tools: { gate }, storage: storeOf(data) });
  await deaf.switchThread({ threadId });
  const sent = deaf.sendMessage({ content: "mine", id: "mine" });
  await deaf.listInbox();
  open();
  await first;
  assert.equal((await other.resultOf({ inputId: "mine" })).reason, "complete");
  const close = async () => void (await Promise.all([other.close(), deaf.close()]));
  return { other, deaf, sent, [Symbol.asyncDispose]: close };
}

for (const [name, after] of [
  ["right after it", []],
  ["after another turn", ["later"]],
] as const)
  test(`a message whose turn completed in another process has its result, also if the thread was rewound ${name}`, async () => {
    await using two = await answeredElsewhere();
    const { other, deaf, sent } = two;
    const { seq } = other.getDisplayState();
    for (const content of after) await other.sendMessage({ content });
    await other.rewind({ toSeq: seq });
    await deaf.settled();
    const { reason, message } = await sent;
    assert.deepEqual([reason, message?.content], ["complete", [{ type: "text", text: "ok" }]]);
  });

test("a message that a rewind in another process reverted is aborted", async () => {
  await using two = await answeredElsewhere();
  const { other, deaf, sent } = two;
  await other.rewind({ toSeq: 1 });
  await deaf.settled();
  assert.deepEqual(await sent, { reason: "aborted", message: null });
});

/** Appends with an event of these types are written when the test allows it. */
class SlowStore extends MemoryStore {
  readonly waiting = new Map<string, { reached: PromiseWithResolvers<void>; allowed: PromiseWithResolvers<void> }>();

  hold(type: string) {
    const held = { reached: Promise.withResolvers<void>(), allowed: Promise.withResolvers<void>() };
    this.waiting.set(type, held);
    return held;
  }

  override async append(...args: Parameters<MemoryStore["append"]>): ReturnType<MemoryStore["append"]> {
    for (const { type } of args[1]) {
      const held = this.waiting.get(type);
      this.waiting.delete(type);
      held?.reached.resolve();
      await held?.allowed.promise;
    }
    return super.append(...args);
  }
}

test("an abort that comes when the turn has just ended aborts the runs in the background, and not the next turn", async () => {
  const storage = new SlowStore(new MemoryData());
  const worker = new Agent({ name: "worker", model: scriptedBy(() => hang("well")) });
  const model = scriptedBy(({ prompt }) =>
    prompt.at(-1)?.role === "user" && JSON.stringify(prompt.at(-1)).includes("delegate")
      ? call("task", { agent: "worker", prompt: "go", background: true })
      : say("ok"),
  );
  const agent = new Agent({ name: "lead", model, subagents: [worker], subagentBackground: true });
  const h = new Harness({ id: "t", agent, storage });
  const { id: threadId } = await h.createThread();
  const [one, two] = [await h.createSession({ threadId }), await h.createSession({ threadId })];
  const ended = storage.hold("agent_end");
  const aborted = storage.hold("abort_requested");
  const first = one.sendMessage({ content: "delegate" });
  const later = two.sendMessage({ content: "later" });
  await ended.reached.promise;
  const abort = one.abort();
  // Until the abort waits for the end of the turn.
  await new Promise((resolve) => setTimeout(resolve, 5));
  ended.allowed.resolve();
  await aborted.reached.promise;
  // Until the driver is about to begin the next turn.
  await new Promise((resolve) => setTimeout(resolve, 5));
  aborted.allowed.resolve();
  assert.equal((await first).reason, "complete");
  await abort;
  assert.equal((await later).reason, "complete");
  assert.deepEqual(h.getDisplayState().activeSubagents, {});
  await h.close();
});

test("a message that is sent again with its id while a rewind settles the first one has the result of its own turn", async () => {
  const looked = Promise.withResolvers<void>();
  const back = Promise.withResolvers<void>();
  let isHeld = false;
  class SlowLookups extends MemoryStore {
    override async findInput(...args: Parameters<MemoryStore["findInput"]>) {
      if (args[2]?.all && isHeld) {
        isHeld = false;
        looked.resolve();
        await back.promise;
      }
      return super.findInput(...args);
    }
  }
  const { gate, started, open } = gated();
  const model = scriptedBy(({ prompt }) =>
    JSON.stringify(prompt.at(-1)).includes("mine") ? call("gate", {}) : say("ok"),
  );
  await using h = await harness({ model, storage: new SlowLookups(new MemoryData()), tools: { gate } });
  await h.sendMessage({ content: "one" });
  const { seq } = h.getDisplayState();
  const later = { content: "mine", id: "again", delivery: "follow_up", at: Date.now() + 60_000 } as const;
  await h.post(later);
  const first = h.resultOf({ inputId: "again" });
  await h.listInbox();
  await new Promise((resolve) => setTimeout(resolve, 20));
  isHeld = true;
  await h.rewind({ toSeq: seq });
  await looked.promise;
  const second = h.sendMessage({ content: "mine", id: "again" });
  await started;
  back.resolve();
  assert.equal((await first).reason, "aborted");
  open();
  assert.equal((await second).reason, "complete");
});

test("a message whose turn completed in another process has its result, also if the next turn was aborted and the thread rewound then", async () => {
  await using two = await answeredElsewhere();
  const { other, deaf, sent } = two;
  const answering = next(other, "message_update");
  const stopped = other.sendMessage({ content: "stop me" });
  await answering;
  await other.abort();
  await stopped;
  const { seq: toSeq } = other.getDisplayState();
  await other.renameThread({ title: "Reverted" });
  await other.rewind({ toSeq });
  await deaf.settled();
  const { reason, message } = await sent;
  assert.deepEqual([reason, message?.content], ["complete", [{ type: "text", text: "ok" }]]);
});

test("a caller whose message was in a thread that was rewound gets the error of a store that can't say what became of it", async () => {
  let fails = false;
  await using two = await answeredElsewhere((data) =>
    wrapped(new DeafStore(data), async (method) => {
      if (fails && method === "findInput") throw new CinchError("STORE_FAILED", "The disk has an error.");
    }),
  );
  const { other, deaf, sent } = two;
  await other.rewind({ toSeq: other.getDisplayState().seq });
  fails = true;
  await Promise.all([deaf.settled(), assert.rejects(sent, { code: "STORE_FAILED" })]);
});
