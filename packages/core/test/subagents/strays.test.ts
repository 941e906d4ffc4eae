import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness } from "@cinch/core";
import { MemoryData, MemoryStore, type AppendOptions, type AppendResult } from "@cinch/core/store";
import type { StampedEvent } from "@cinch/core/journal";
import { call, fail, say, script, scriptedBy, type Step } from "@cinch/testkit";
import { heldBack } from "./requests.ts";

/** Explore starts a search in the background, and then does its last step. */
function tree(storage: MemoryStore, searching: Step, last: Step) {
  const search = new Agent({ name: "search", model: script(searching), tools: {} });
  const steps = [call("task", { agent: "search", prompt: "Search", background: true }), last];
  const exploring = scriptedBy(() => steps.shift() ?? say("for nobody"));
  const explore = new Agent({
    name: "explore",
    model: exploring,
    tools: {},
    subagents: [search],
    subagentBackground: true,
  });
  const model = script(call("task", { agent: "explore", prompt: "Explore" }), say("Done."));
  const agent = new Agent({ name: "dev", model, subagents: [explore], maxSubagentDepth: 2 });
  return { h: new Harness({ id: "t", agent, storage }), exploring };
}

/** A tree has settled whose threads have had a turn each. */
async function settles(h: Harness, storage: MemoryStore): Promise<void> {
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  assert.equal((await h.settled()).status, "idle");
  const threads = await storage.threads();
  assert.deepEqual(
    threads.filter(({ active }) => active),
    [],
  );
  const turns = threads.map(async ({ id }) => (await storage.read(id)).filter(({ type }) => type === "agent_end"));
  assert.deepEqual(
    (await Promise.all(turns)).map(({ length }) => length),
    [1, 1, 1],
  );
}

test("a subagent whose run fails begins no turn with the note that it has not read", async () => {
  const storage = new MemoryStore(new MemoryData());
  const last = heldBack(fail(new Error("The provider is on fire")));
  const { h, exploring } = tree(storage, say("Found."), last.step);
  h.subscribe((event) => {
    const inner = event.type === "subagent_event" ? (event.event as { type: string }) : event;
    if (inner.type === "background_settled") last.open();
  });
  await settles(h, storage);
  assert.equal(exploring.requests.length, 2);
  await h.close();
});

test("a subagent whose run has ended begins no turn when one that it has not awaited ends before its caller has noticed", async () => {
  const exploreEnds = Promise.withResolvers<void>();
  const searchEnded = Promise.withResolvers<void>();
  /** Writes the end of the first turn when the second one has ended. */
  class Slow extends MemoryStore {
    #ends = 0;
    override async append(id: string, events: readonly StampedEvent[], options: AppendOptions): Promise<AppendResult> {
      const isEnd = events.some(({ type }) => type === "agent_end");
      if (isEnd && ++this.#ends === 1) {
        exploreEnds.resolve();
        await searchEnded.promise;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const appended = await super.append(id, events, options);
      if (isEnd) searchEnded.resolve();
      return appended;
    }
  }
  const storage = new Slow(new MemoryData());
  const searching: Step = async function* (options) {
    await exploreEnds.promise;
    yield* say("Found.")(options);
  };
  const { h, exploring } = tree(storage, searching, say("Explored."));
  await settles(h, storage);
  assert.equal(exploring.requests.length, 2);
  await h.close();
});
