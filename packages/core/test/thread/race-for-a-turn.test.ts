import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryData, MemoryStore, type AppendOptions } from "@cinch/core/store";
import type { StampedEvent } from "@cinch/core/journal";
import { say, script } from "@cinch/testkit";
import { harness, next } from "../support.ts";

/** Begins a turn only after another process has begun it. */
class SlowStore extends MemoryStore {
  begun = Promise.withResolvers<void>();
  override async append(threadId: string, events: readonly StampedEvent[], options: AppendOptions) {
    if (events[0]?.type === "agent_start") await this.begun.promise;
    return super.append(threadId, events, options);
  }
}

test("a process that loses the race for a turn neither asks the model nor emits events of its own", async () => {
  const data = new MemoryData();
  const storage = new SlowStore(data);
  const [winning, losing] = [script(say("a slow answer", { delayMs: 20 })), script(say("never asked for"))];
  await using winner = await harness({ model: winning, storage: new MemoryStore(data) });
  const { id } = await winner.createThread();
  await using loser = await harness({ model: losing, storage });
  await loser.switchThread({ threadId: id });
  const started = next(winner, "agent_start");
  const ended = next(loser, "agent_end");
  await winner.post({ content: "go", delivery: "send" });
  await started;
  storage.begun.resolve();
  await ended;
  assert.equal(losing.requests.length, 0);
});
