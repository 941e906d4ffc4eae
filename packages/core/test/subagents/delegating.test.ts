import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore, type HarnessConfig } from "@cinch/core";
import { call, hang, say, script, scriptedBy, type ScriptedModel } from "@cinch/testkit";
import { permissions } from "../support.ts";

/** A harness whose agent starts a subagent in the background that delegates to another one. */
function make(searching: ScriptedModel, config: Partial<HarnessConfig> & { timeout?: number } = {}) {
  const { timeout, ...more } = config;
  const search = new Agent({ name: "search", model: searching });
  const exploring = script(call("task", { agent: "search", prompt: "Search" }), say("Explored."));
  const explore = new Agent({ name: "explore", model: exploring, tools: {}, subagents: [search] });
  const model = script(call("task", { agent: "explore", prompt: "Explore", background: true }), say("Started."));
  const subagentBackground = { wake: false, ...(timeout === undefined ? {} : { timeout }) };
  const agent = new Agent({ name: "dev", model, subagents: [explore], maxSubagentDepth: 2, subagentBackground });
  return new Harness({ id: "t", agent, storage: memoryStore(), permissions, ...more });
}

for (const { works, status } of [
  { works: 200, status: "complete" },
  { works: 2_000, status: "timeout" },
])
  test(`a background subagent whose own subagent asks a person for hours and works ${works} ms ends with ${status} at a timeout of 1000`, async () => {
    let ms = 0;
    // Only the test moves it; its timers fire soon.
    const clock = {
      now: () => ms,
      after: (delayMs: number, callback: () => void) => {
        const timer = setTimeout(callback, Math.min(delayMs, 5));
        return () => clearTimeout(timer);
      },
    };
    const searching = scriptedBy(({ prompt }) => {
      if (prompt.at(-1)?.role !== "tool") return call("ask_user", { question: "Well?" });
      ms += works;
      return works < 1_000 ? say("Found.") : hang("…");
    });
    const h = make(searching, { clock, timeout: 1_000 });
    const ended = new Promise<string>((resolve) =>
      h.subscribe((event) => event.type === "subagent_end" && resolve(event.status)),
    );
    await h.sendMessage({ content: "go" });
    assert.equal((await h.settled()).status, "waiting");
    ms += 10_000_000;
    await h.respondToToolSuspension({ resumeData: "yes" });
    assert.equal(await ended, status);
    await h.close();
  });

test("close() cancels a background subagent that waits for its own subagent", async () => {
  const storage = memoryStore();
  const h = make(script(hang("…")), { storage });
  const searches = new Promise<void>((resolve) =>
    h.subscribe((event) => event.type === "subagent_text_delta" && resolve()),
  );
  await h.sendMessage({ content: "go" });
  await searches;
  await h.close();
  await storage.open();
  assert.deepEqual(await storage.threads({ active: true }), []);
});
