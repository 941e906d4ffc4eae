import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { call, say, script, scriptedBy } from "@cinch/testkit";
import { gated, next, noting } from "../support.ts";
import { waitingClock } from "../../../testkit/test/waiting-clock.ts";

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

test("a subagent whose catalog fails for a while starts when the catalog answers", async () => {
  let calls = 0;
  const worker = new Agent({ name: "worker", model: script(say("ok")), tools: {} });
  const catalog = {
    list: async () => [{ name: "worker", description: "" }],
    resolve: async () => {
      if (++calls === 2) throw new Error("down");
      return worker;
    },
  };
  const agent = new Agent({
    name: "dev",
    model: script(call("task", { agent: "worker", prompt: "x" }), say("done")),
    subagents: catalog,
  });
  const h = new Harness({ id: "t", agent, storage: memoryStore() });
  assert.ok(await h.sendMessage({ content: "go" }));
  await h.close();
});

test("a catalog is listed once per turn, and the prompt follows", async () => {
  let lists = 0;
  const catalog = { list: async () => [{ name: `a${++lists}`, description: "" }], resolve: async () => undefined };
  const model = scriptedBy(() => say("x"));
  const agent = new Agent({ name: "dev", model, subagents: catalog });
  const h = new Harness({ id: "t", agent, storage: memoryStore() });
  await h.sendMessage({ content: "go" });
  await h.sendMessage({ content: "go" });
  assert.equal(lists, 2);
  assert.match(JSON.stringify(model.requests[1]!.tools), /a2/);
  await h.close();
});

test("an agent that a catalog has changed is judged by its new rules", async () => {
  const runs: unknown[] = [];
  const { note } = noting(runs);
  let policy: "allow" | "deny" = "allow";
  const make = () =>
    new Agent({
      name: "worker",
      model: script(call("note", { what: "x" }), say("ok")),
      tools: { note },
      permissions: [{ toolName: "note", policy }],
    });
  const catalog = { list: async () => [{ name: "worker", description: "" }], resolve: async () => make() };
  const model = scriptedBy(({ prompt }) =>
    prompt.at(-1)?.role === "user" ? call("task", { agent: "worker", prompt: "x" }) : say("done"),
  );
  const h = new Harness({
    id: "t",
    agent: new Agent({ name: "dev", model, subagents: catalog }),
    storage: memoryStore(),
    permissions: [{ toolName: "note", policy: "allow" }],
  });
  await h.sendMessage({ content: "go" });
  assert.equal(runs.length, 1);
  policy = "deny";
  await h.sendMessage({ content: "go" });
  assert.equal(runs.length, 1);
  await h.close();
});

test("a turn whose catalog does not answer has begun, and can be aborted", async () => {
  const catalog = { list: () => new Promise<never>(() => undefined), resolve: async () => undefined };
  const model = script(say("Never said."));
  const h = new Harness({ id: "t", agent: new Agent({ name: "dev", model, subagents: catalog }) });
  const begun = next(h, "agent_start");
  const turn = h.sendMessage({ content: "go" });
  await begun;
  await h.abort();
  assert.deepEqual([(await turn).reason, model.requests.length], ["aborted", 0]);
  await h.close();
});

test("a list that another thread has read changes nothing in a turn that is running", async () => {
  let name = "old";
  const catalog = { list: async () => [{ name, description: "" }], resolve: async () => undefined };
  const { gate, started, open } = gated();
  const model = scriptedBy(({ prompt }) => (JSON.stringify(prompt.at(-1)).includes("wait") ? call("gate") : say("ok")));
  const agent = new Agent({ name: "dev", model, tools: { gate }, subagents: catalog });
  const h = new Harness({ id: "t", agent, permissions: [{ toolName: "gate", policy: "allow" }] });
  const turn = h.sendMessage({ content: "wait" });
  await started;
  name = "new";
  const other = await h.createSession();
  await other.createThread();
  await other.sendMessage({ content: "go" });
  open();
  await turn;
  assert.deepEqual(
    model.requests.map(({ tools }) => /- (old|new):/.exec(JSON.stringify(tools))?.[1]),
    ["old", "new", "old"],
  );
  await h.close();
});

test("if the catalog fails after a restart, the last list of the thread stands", async () => {
  const data = new MemoryData();
  let isDown = false;
  const run = async () => {
    const list = async () => {
      if (isDown) throw new Error("down");
      return [{ name: "worker", description: "Works" }];
    };
    const model = script(say("ok"));
    const agent = new Agent({ name: "dev", model, subagents: { list, resolve: async () => undefined } });
    const h = new Harness({ id: "t", agent, storage: memoryStore(data) });
    await h.sendMessage({ content: "go" });
    await h.close();
    return JSON.stringify(model.requests.at(-1)?.tools);
  };
  const before = await run();
  isDown = true;
  assert.equal(await run(), before);
  assert.match(before, /- worker: Works/);
});

test("a turn that another process continues keeps the list that it began with", async () => {
  const data = new MemoryData();
  const make = (name: string) => {
    const catalog = { list: async () => [{ name, description: "" }], resolve: async () => undefined };
    const model = script(call("ask_user", { question: "?" }), say("ok"), say("ok"));
    const agent = new Agent({ name: "dev", model, subagents: catalog });
    return { h: new Harness({ id: "t", agent, storage: memoryStore(data) }), model };
  };
  const first = make("old");
  first.h.sendMessage({ content: "go" }).catch(() => undefined);
  await first.h.settled();
  await first.h.close();
  const second = make("new");
  await second.h.selectOrCreateThread();
  await second.h.respondToToolSuspension({ resumeData: "yes" });
  await second.h.settled();
  await second.h.sendMessage({ content: "again" });
  assert.deepEqual(
    second.model.requests.map(({ tools }) => /- (old|new):/.exec(JSON.stringify(tools))?.[1]),
    ["old", "new"],
  );
  await second.h.close();
});

test("an abort does not wait for a catalog that hangs while a subagent is opened", async () => {
  const worker = new Agent({ name: "worker", model: script(say("never said")), tools: {} });
  const asked = Promise.withResolvers<void>();
  let isFirst = true;
  const resolve = async () => {
    if (!isFirst) {
      asked.resolve();
      return new Promise<never>(() => undefined);
    }
    isFirst = false;
    return worker;
  };
  const catalog = { list: async () => [{ name: "worker", description: "" }], resolve };
  const model = script(call("task", { agent: "worker", prompt: "x" }), say("no"));
  const storage = memoryStore();
  const clock = waitingClock();
  const h = new Harness({ id: "t", agent: new Agent({ name: "dev", model, subagents: catalog }), storage, clock });
  const turn = h.sendMessage({ content: "go" });
  await asked.promise;
  const start = clock.now();
  await h.abort();
  assert.equal((await turn).reason, "aborted");
  assert.ok(clock.now() - start < 6_000);
  const ends = (await storage.read(h.getCurrentThreadId()!)).flatMap((event) =>
    event.type === "subagent_end" ? event.status : [],
  );
  assert.deepEqual(ends, ["cancelled"]);
  assert.deepEqual(await storage.threads({ active: true }), []);
  await h.close();
});

test("a subagent whose catalog takes long is driven when the catalog has answered", async () => {
  const worker = new Agent({ name: "worker", model: script(say("found")), tools: {} });
  let calls = 0;
  const resolve = async () => {
    if (++calls > 1) await wait(1_500);
    return worker;
  };
  const catalog = { list: async () => [{ name: "worker", description: "" }], resolve };
  const model = script(call("task", { agent: "worker", prompt: "x" }), say("done"));
  const h = new Harness({ id: "t", agent: new Agent({ name: "dev", model, subagents: catalog }) });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  await h.close();
});

test("an agent of a catalog with two tools of one name is an error for the model, and the turn goes on", async () => {
  const worker = new Agent({ name: "worker", tools: { ask_user: noting().note } });
  const catalog = { list: async () => [{ name: "worker", description: "" }], resolve: async () => worker };
  const model = script(call("task", { agent: "worker", prompt: "x" }), say("done"));
  const h = new Harness({ id: "t", agent: new Agent({ name: "dev", model, subagents: catalog }) });
  const ended = next(h, "tool_end");
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  const { isError, result } = await ended;
  assert.ok(isError);
  assert.match(String(result.content), /Agent "worker" has two tools named "ask_user"\. Rename one\./);
  await h.close();
});

test("the parent's subscribers learn why a subagent is not driven", async () => {
  const worker = new Agent({ name: "worker", model: script(say("never said")), tools: {} });
  let isThere = true;
  const resolve = async () => {
    const found = isThere ? worker : undefined;
    isThere = false;
    return found;
  };
  const catalog = { list: async () => [{ name: "worker", description: "" }], resolve };
  const model = script(call("task", { agent: "worker", prompt: "x" }), say("no"));
  const h = new Harness({ id: "t", agent: new Agent({ name: "dev", model, subagents: catalog }) });
  const info = next(h, "info");
  h.sendMessage({ content: "go" }).catch(() => undefined);
  assert.equal(
    (await info).message,
    'The subagent "worker" can\'t be driven from here: There is no subagent "worker" here. Its thread is kept for a process that has it.',
  );
  await h.abort();
  await h.close();
});
