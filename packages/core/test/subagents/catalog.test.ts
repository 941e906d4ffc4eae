import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore, textOf, type HarnessMessage, type SubagentCatalog } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";

const results = (messages: readonly HarnessMessage[]) =>
  messages.flatMap(({ outcomes }) => Object.values(outcomes).map(({ result }) => textOf(result.content)));

type Requests = ReturnType<typeof script>["requests"];

/** The description of `task` in the request with this index. */
const taskIn = (requests: Requests, at: number): string => {
  const tool = requests[at]?.tools?.find(({ name }) => name === "task");
  return tool?.type === "function" ? (tool.description ?? "") : "";
};

test("a catalog is listed once per turn and sorted, and a change makes a new head", async () => {
  const explore = new Agent({ name: "explore", model: script(say("explored")), tools: {} });
  let listed = [
    { name: "zeta", description: "Last" },
    { name: "explore", description: "Looks around" },
  ];
  let lists = 0;
  const catalog: SubagentCatalog = {
    async list() {
      lists++;
      if (listed.length === 0) throw new Error("The catalog is down");
      return listed;
    },
    resolve: async (name) => (name === "explore" ? explore : undefined),
  };
  const model = script(call("task", { agent: "explore", prompt: "Look" }), say("One."), say("Two."), say("Three."));
  const storage = memoryStore();
  const h = new Harness({ id: "t", agent: new Agent({ name: "dev", model, subagents: catalog }), storage });
  await h.sendMessage({ content: "1" });
  assert.deepEqual(results(h.getDisplayState().messages), ["<task_result>\nexplored\n</task_result>"]);
  const before = lists;
  listed = [{ name: "explore", description: "Looks closely" }];
  await h.sendMessage({ content: "2" });
  assert.equal(lists - before, 1);
  listed = [];
  await h.sendMessage({ content: "3" });
  const names = [0, 2, 3].map((at) => [...taskIn(model.requests, at).matchAll(/^- (.*)$/gm)].map(([, line]) => line));
  const general = names[0]![1];
  assert.deepEqual(names, [
    ["explore: Looks around", general, "zeta: Last"],
    ["explore: Looks closely", general],
    ["explore: Looks closely", general],
  ]);
  const heads = (await storage.read(h.getCurrentThreadId()!)).flatMap((event) =>
    event.type === "prompt_head" ? [event.reason] : [],
  );
  assert.deepEqual(heads, ["first use", "instructions or tools changed"]);
  await h.close();
});

test("an unknown agent is an error result that lists the known ones", async () => {
  const model = script(call("task", { agent: "nobody", prompt: "x" }), say("I see."));
  const explore = new Agent({ name: "explore", model: script(say("x")), tools: {} });
  const h = new Harness({ id: "t", agent: new Agent({ name: "dev", model, subagents: [explore] }) });
  await h.sendMessage({ content: "go" });
  assert.deepEqual(results(h.getDisplayState().messages), [
    'There is no subagent "nobody". The subagents are: explore, general-purpose.',
  ]);
  await h.close();
});

test("general-purpose has the parent's model; subagents: false removes task, and an agent of that name replaces it", async () => {
  const names = async (subagents: ConstructorParameters<typeof Agent>[0]["subagents"]) => {
    const model = script(say("x"));
    const h = new Harness({
      id: "t",
      agent: new Agent({ name: "dev", model, ...(subagents === undefined ? {} : { subagents }) }),
    });
    await h.sendMessage({ content: "go" });
    await h.close();
    return [...taskIn(model.requests, 0).matchAll(/^- ([\w-]+):/gm)].map(([, name]) => name);
  };
  assert.deepEqual(await names(undefined), ["general-purpose"]);
  assert.deepEqual(await names(false), []);
  assert.deepEqual(await names([{ id: "general-purpose", description: "Mine" }]), ["general-purpose"]);

  const model = script(call("task", { agent: "general-purpose", prompt: "Say it" }), say("Done."));
  const h = new Harness({ id: "t", agent: new Agent({ name: "dev", model }) });
  await h.sendMessage({ content: "go" });
  // Both follow the same script: the child also begins with a call of task, which it does not have.
  assert.equal(model.requests.length, 4);
  await h.close();
});

test("by default subagents cannot delegate further", async () => {
  const search = new Agent({ name: "search", model: script(say("found")), tools: {} });
  const explorer = script(call("task", { agent: "search", prompt: "s" }), say("explored"));
  const explore = new Agent({ name: "explore", model: explorer, tools: {}, subagents: [search] });
  const model = script(call("task", { agent: "explore", prompt: "e" }), say("done"));
  const h = new Harness({ id: "t", agent: new Agent({ name: "dev", model, subagents: [explore] }) });
  await h.sendMessage({ content: "go" });
  assert.equal(taskIn(explorer.requests, 0), "");
  assert.match(JSON.stringify(explorer.requests[1]?.prompt), /There is no tool \\"task\\"/);
  await h.close();
});

test("several calls of task in one answer run at the same time", async () => {
  let running = 0;
  let most = 0;
  const both = Promise.withResolvers<void>();
  const worker = new Agent({
    name: "worker",
    tools: {},
    model: script(async function* (options) {
      most = Math.max(most, ++running);
      if (most === 2) both.resolve();
      await both.promise;
      running--;
      yield* say("ok")(options);
    }),
  });
  const task = (prompt: string): [string, unknown] => ["task", { agent: "worker", prompt }];
  const model = script(call(task("a"), task("b")), say("done"));
  const h = new Harness({ id: "t", agent: new Agent({ name: "dev", model, subagents: [worker] }) });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  assert.equal(most, 2);
  await h.close();
});

test("a misspelt option, two subagents of one name, and a list that is none are INVALID_CONFIG", () => {
  const agent = (more: object) => () => new Agent({ name: "dev", ...more });
  assert.throws(agent({ subagent: [] }), /Unknown key "subagent": did you mean "subagents"\?/);
  assert.throws(agent({ subagents: [{ name: "a" }, { id: "a" }] }), /two subagents named "a"/);
  const nameless = [new Agent({ name: "a" }), { description: "Looks around" }];
  assert.throws(agent({ subagents: nameless }), {
    code: "INVALID_CONFIG",
    message: 'Agent "dev": subagents[1] has no name. Add one, such as { name: "explore" }.',
  });
  assert.throws(agent({ subagents: ["explore"] }), /subagents\[0\] is no agent\. Give an Agent, or an object/);
  assert.throws(
    () => new Harness({ id: "t", agent: new Agent({ name: "dev" }), subagents: [{ tools: {} }] }),
    /^CinchError: Harness: subagents\[0\] has no name/,
  );
  assert.throws(agent({ subagents: "all" }), /must be a list of agents, a catalog with list and resolve, or false/);
  assert.throws(agent({ subagentBackground: { maxConcurrent: 0 } }), { code: "INVALID_CONFIG" });
  assert.throws(agent({ subagentSessions: { defaultMode: "resume" } }), { code: "INVALID_CONFIG" });
});
