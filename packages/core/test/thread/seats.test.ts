import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryData, MemoryStore, type AppendOptions } from "@cinch/core/store";
import type { Harness, Session } from "@cinch/core";
import type { StampedEvent } from "@cinch/core/journal";
import { say, scriptedBy } from "@cinch/testkit";
import { harness } from "../support.ts";

const talkative = () => scriptedBy(() => say("yes", { size: 10 }));

/** More awaits than a session needs to enter or leave a thread. */
const STEPS = 40;

async function awaits(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await Promise.resolve();
}

/** Never settles if the session's thread was closed. */
async function answersAt(session: Session | Harness): Promise<string> {
  return (await session.sendMessage({ content: "still there?" })).reason;
}

test("a session that enters a thread while another leaves can use it, whatever the order of their steps", async () => {
  for (let late = 0; late < STEPS; late++) {
    await using h = await harness({ model: talkative() });
    const { id: threadId } = await h.createThread();
    const leaving = await h.createSession({ threadId });
    await h.createThread();
    const entering = await h.createSession();
    const left = leaving.close();
    await awaits(late);
    await entering.switchThread({ threadId });
    await left;
    assert.equal(await answersAt(entering), "complete", `entered ${late} awaits after the other began to leave`);
  }
});

test("a session that leaves a thread while another enters does not close the thread", async () => {
  for (let late = 0; late < STEPS; late++) {
    await using h = await harness({ model: talkative() });
    const { id: threadId } = await h.createThread();
    const leaving = await h.createSession({ threadId });
    await h.createThread();
    const entering = await h.createSession();
    const entered = entering.switchThread({ threadId });
    await awaits(late);
    await Promise.all([leaving.close(), entered]);
    assert.equal(await answersAt(entering), "complete", `left ${late} awaits after the other began to enter`);
  }
});

/** `ended` settles when the end of a turn is written. */
class TurnEndStore extends MemoryStore {
  readonly ended = Promise.withResolvers<void>();
  override async append(threadId: string, events: readonly StampedEvent[], options: AppendOptions) {
    const result = await super.append(threadId, events, options);
    if (events.some(({ type }) => type === "agent_end")) this.ended.resolve();
    return result;
  }
}

test("a session can enter a thread that recover: all continues, at the moment its turn ends", async () => {
  for (let late = 0; late < STEPS; late++) {
    const data = new MemoryData();
    await using first = await harness({ model: talkative(), storage: new MemoryStore(data) });
    const { id: threadId } = await first.createThread();
    const { seq: afterSeq } = first.getDisplayState();
    await first.close();
    const queued = { type: "input_accepted", v: 1, at: 1, inputId: "i", delivery: "send", content: "hello" } as const;
    await new MemoryStore(data).append(threadId, [queued], { afterSeq, active: true });
    const storage = new TurnEndStore(data);
    await using h = await harness({ model: talkative(), storage, recover: "all" });
    await storage.ended.promise;
    await awaits(late);
    await h.switchThread({ threadId });
    assert.equal(await answersAt(h), "complete", `entered ${late} awaits after the turn had ended`);
  }
});

test("after a deletion, a session that tries to enter the deleted thread does not affect other sessions", async () => {
  await using h = await harness({ model: talkative() });
  const { id: threadId } = await h.createThread();
  const other = await h.createSession({ threadId });
  await h.deleteThread({ threadId });
  await assert.rejects(other.switchThread({ threadId }), { code: "THREAD_NOT_FOUND" });
  await h.createThread();
  assert.equal(await answersAt(h), "complete");
});
