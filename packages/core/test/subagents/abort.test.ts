import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, defineTool, Harness, memoryStore, type Store } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, hang, say, script } from "@cinch/testkit";
import * as z from "zod";
import { waitingClock } from "../../../testkit/test/waiting-clock.ts";
import { wrapped } from "../wrapped-store.ts";

test("an abort ends all descendants before the turn has ended", async () => {
  const search = new Agent({ name: "search", model: script(hang("searching")), tools: {} });
  const explore = new Agent({
    name: "explore",
    model: script(call("task", { agent: "search", prompt: "Search" }), say("never")),
    tools: {},
    subagents: [search],
  });
  const model = script(call("task", { agent: "explore", prompt: "Explore" }), say("never"));
  const dev = new Agent({ name: "dev", model, subagents: [explore], maxSubagentDepth: 2 });
  const storage = memoryStore();
  const clock = waitingClock();
  const h = new Harness({ id: "t", agent: dev, storage, clock });
  const turn = h.sendMessage({ content: "go" });
  const texts = new Promise<string[]>((resolve) => {
    h.subscribe((event) => event.type === "subagent_text_delta" && resolve([...event.path]));
  });
  assert.deepEqual(await texts, ["explore", "search"]);
  assert.equal(h.getDisplayState().status, "running");
  const since = clock.now();
  await h.abort();
  assert.ok(clock.now() - since < 2_000);
  assert.equal((await turn).reason, "aborted");
  const threads = await storage.threads();
  assert.deepEqual(
    threads.map(({ active }) => active),
    [false, false, false],
  );
  assert.equal(h.getDisplayState().status, "idle");
  await h.close();
});

test("the ends of all children are recorded before that of the aborted turn, also while the parent works", async () => {
  const stuck = new Agent({ name: "stuck", model: script(hang("…")), tools: {} });
  const tasks = ["a", "b"].map((prompt): [string, unknown] => ["task", { agent: "stuck", prompt, background: true }]);
  const model = script(call(...tasks), hang("Thinking"));
  const agent = new Agent({ name: "dev", model, subagents: [stuck], subagentBackground: true });
  const storage = memoryStore();
  const h = new Harness({ id: "t", agent, storage });
  const turn = h.sendMessage({ content: "go" });
  while (h.getDisplayState().currentMessage === null || model.requests.length < 2)
    await new Promise((resolve) => setTimeout(resolve, 5));
  await h.abort();
  assert.equal((await turn).reason, "aborted");
  const types = (await storage.read(h.getCurrentThreadId()!)).map(({ type }) => type);
  assert.deepEqual(
    types.filter((type) => type === "subagent_end" || type === "agent_end"),
    ["subagent_end", "subagent_end", "agent_end"],
  );
  await h.close();
});

test("an abort reaches three levels at once, although a tool on each of them does not stop", async () => {
  const started: string[] = [];
  const stubborn = defineTool({
    description: "Does not stop",
    category: "read",
    input: z.object({}),
    execute: (_, { threadId }) => {
      started.push(threadId);
      return new Promise<string>(() => undefined);
    },
  });
  const tools = { stubborn };
  let agent = new Agent({ name: "level2", model: script(call("stubborn")), tools });
  for (const name of ["level1", "level0", "top"])
    agent = new Agent({
      name,
      model: script(call(["stubborn"], ["task", { agent: agent.name, prompt: "go" }])),
      tools,
      subagents: [agent],
      maxSubagentDepth: 3,
    });
  const storage = memoryStore();
  const clock = waitingClock();
  const h = new Harness({ id: "t", agent, storage, clock });
  const turn = h.sendMessage({ content: "go" });
  while (started.length < 4) await new Promise((resolve) => setTimeout(resolve, 5));
  const since = clock.now();
  await h.abort();
  const ms = clock.now() - since;
  assert.equal((await turn).reason, "aborted");
  assert.ok(ms < 2_000, `${ms} ms`);
  const left = (await storage.threads()).filter(({ active }) => active).map(({ title }) => title);
  assert.deepEqual(left, []);
  await h.close();
});

test("a process that does not drive a subagent asks the store seldom while its aborted tool stops", async () => {
  const data = new MemoryData();
  const started = Promise.withResolvers<void>();
  const stubborn = defineTool({
    description: "Does not stop",
    category: "read",
    input: z.object({}),
    execute: () => {
      started.resolve();
      return new Promise<string>(() => undefined);
    },
  });
  const make = (storage: Store) => {
    const worker = new Agent({ name: "worker", model: script(call("stubborn")), tools: { stubborn } });
    const model = script(call("task", { agent: "worker", prompt: "go" }));
    return new Harness({ id: "t", agent: new Agent({ name: "dev", model, subagents: [worker] }), storage });
  };
  const h = make(new MemoryStore(data));
  const turn = h.sendMessage({ content: "go" });
  await started.promise;
  let asked = 0;
  const counting = wrapped(new MemoryStore(data), (method) => {
    if (method === "lease") asked++;
    // Without a pause, a process that asks again and again would keep this one from noticing.
    return new Promise((resolve) => setTimeout(resolve));
  });
  const other = make(counting);
  await other.switchThread({ threadId: h.getCurrentThreadId()! });
  await other.abort();
  assert.equal((await turn).reason, "aborted");
  assert.ok(asked < 20, `${asked} times`);
  await other.close();
  await h.close();
});
