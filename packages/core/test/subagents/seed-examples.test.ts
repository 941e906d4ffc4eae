import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, defineTool, Harness, textOf, type SubagentCatalog } from "@cinch/core";
import { call, hang, say, script, scriptedBy } from "@cinch/testkit";
import * as z from "zod";
import { askedIn, outcomesOf, readTools, resultsOf, toolIn, toolNamesIn } from "./requests.ts";

// The examples of the documents that the product started from, in their order, as a user of this library writes them.

const bash = defineTool({
  description: "Runs a command",
  category: "execute",
  input: z.object({}),
  execute: () => "ran",
});

test("an agent with a list of subagents sees a task tool that lists them, and the one it calls works to its end", async () => {
  const ran: string[] = [];
  const explorer = script(call("grep"), call("readFile"), say("Auth begins in login.ts."));
  const explore = new Agent({
    name: "explore",
    description: "Searches and reads files, and changes nothing.",
    model: explorer,
    tools: readTools(ran),
    maxSteps: 30,
  });
  const model = script(call("task", { agent: "explore", prompt: "Where does auth begin?" }), say("In login.ts."));
  const dev = new Agent({ name: "dev", model, tools: { ...readTools(), bash }, subagents: [explore] });
  const h = new Harness({ id: "t", agent: dev });
  const { message } = await h.sendMessage({ content: "Explain auth" });
  assert.equal(textOf(message!.content), "In login.ts.");
  const task = toolIn(model, "task")!;
  assert.match(task.description, /^- explore: Searches and reads files, and changes nothing\.$/m);
  assert.deepEqual(
    [Object.keys(task.properties), task.required.toSorted()],
    [
      ["agent", "prompt"],
      ["agent", "prompt"],
    ],
  );
  assert.deepEqual(resultsOf(h.getDisplayState()), ["<task_result>\nAuth begins in login.ts.\n</task_result>"]);
  assert.deepEqual(ran, ["grep", "readFile"]);
  assert.deepEqual(
    toolNamesIn(explorer).filter((name) => name !== "ask_user" && name !== "write_todos"),
    ["readFile", "listFiles", "grep"],
  );
  await h.close();
});

test("each call of task begins with nothing but its prompt", async () => {
  const explorer = script(say("One."));
  const explore = new Agent({ name: "explore", model: explorer, tools: readTools() });
  const model = script(
    call("task", { agent: "explore", prompt: "First look" }),
    call("task", { agent: "explore", prompt: "Second look" }),
    say("Done."),
  );
  const h = new Harness({ id: "t", agent: new Agent({ name: "dev", model, subagents: [explore] }) });
  await h.sendMessage({ content: "Look twice" });
  assert.deepEqual([askedIn(explorer, 0), askedIn(explorer, 1)], [["First look"], ["Second look"]]);
  assert.equal((await h.listThreads({ parentId: h.getCurrentThreadId()! })).length, 2);
  await h.close();
});

test("a subagent asks through its parent, unless a rule allows the call or no person answers", async () => {
  const play = async (more: Partial<ConstructorParameters<typeof Harness>[0]>) => {
    const coder = new Agent({ name: "coder", model: script(call("bash"), say("Coded.")), tools: { bash } });
    const model = script(call("task", { agent: "coder", prompt: "Code" }), say("Done."));
    const h = new Harness({ id: "t", agent: new Agent({ name: "dev", model, subagents: [coder] }), ...more });
    const turn = h.sendMessage({ content: "go" });
    const { status, pending } = await h.settled();
    if (status === "waiting") await h.respondToToolApproval({ decision: "approve" });
    const { reason } = await turn;
    const [child] = await h.listThreads({ parentId: h.getCurrentThreadId()! });
    const session = await h.createSession({ threadId: child!.id });
    const results = outcomesOf(session.getDisplayState());
    await h.close();
    return { asked: pending.map(({ path, toolName }) => [...path, toolName]), reason, results };
  };
  const ran = [{ text: "ran", isError: false }];
  assert.deepEqual(await play({}), { asked: [["coder", "bash"]], reason: "complete", results: ran });
  const permissions = [{ toolName: "bash", policy: "allow" as const }];
  assert.deepEqual(await play({ permissions }), { asked: [], reason: "complete", results: ran });
  const declined = await play({ onAsk: "decline" });
  assert.deepEqual([declined.asked, declined.reason, declined.results[0]?.isError], [[], "complete", true]);
});

test("by default a subagent has no task tool, even if it has subagents", async () => {
  const explorer = script(say("Explored."));
  const search = new Agent({ name: "search", model: script(say("Found.")), tools: readTools() });
  const explore = new Agent({ name: "explore", model: explorer, tools: readTools(), subagents: [search] });
  const model = script(call("task", { agent: "explore", prompt: "Explore" }), say("Done."));
  const h = new Harness({ id: "t", agent: new Agent({ name: "dev", model, subagents: [explore] }) });
  await h.sendMessage({ content: "go" });
  assert.deepEqual([toolNamesIn(model).includes("task"), toolNamesIn(explorer).includes("task")], [true, false]);
  await h.close();
});

test("an abort of the parent aborts the subagent", async () => {
  const explore = new Agent({ name: "explore", model: script(hang("Looking")), tools: readTools() });
  const model = script(call("task", { agent: "explore", prompt: "Explore" }), say("never"));
  const h = new Harness({ id: "t", agent: new Agent({ name: "dev", model, subagents: [explore] }) });
  const streams = new Promise<void>((resolve) =>
    h.subscribe((event) => event.type === "subagent_text_delta" && resolve()),
  );
  const turn = h.sendMessage({ content: "go" });
  await streams;
  await h.abort();
  assert.equal((await turn).reason, "aborted");
  const [child] = await h.listThreads({ parentId: h.getCurrentThreadId()! });
  assert.equal(child!.active, false);
  await h.close();
});

test("several calls of task in one answer are at work at the same time", async () => {
  const all = Promise.withResolvers<void>();
  let atWork = 0;
  const explorer = script(async function* (options) {
    if (++atWork === 3) all.resolve();
    await all.promise;
    yield* say("Explored.")(options);
  });
  const explore = new Agent({ name: "explore", model: explorer, tools: readTools() });
  const tasks = ["api", "web", "docs"].map((prompt): [string, unknown] => ["task", { agent: "explore", prompt }]);
  const model = script(call(...tasks), say("Done."));
  const h = new Harness({ id: "t", agent: new Agent({ name: "dev", model, subagents: [explore] }) });
  await h.sendMessage({ content: "go" });
  assert.equal(resultsOf(h.getDisplayState()).filter((text) => text.includes("Explored.")).length, 3);
  await h.close();
});

test("without subagentSessions and subagentBackground there is neither a session nor a background", async () => {
  const explore = new Agent({ name: "explore", model: script(say("Explored.")), tools: readTools() });
  const model = scriptedBy(({ prompt }) =>
    prompt.at(-1)?.role === "tool"
      ? say("Done.")
      : call("task", { agent: "explore", prompt: "e", session: { mode: "new" }, background: true }),
  );
  const h = new Harness({ id: "t", agent: new Agent({ name: "dev", model, subagents: [explore] }) });
  await h.sendMessage({ content: "go" });
  assert.deepEqual(Object.keys(toolIn(model, "task")!.properties), ["agent", "prompt"]);
  assert.deepEqual(
    toolNamesIn(model).filter((name) => name.startsWith("agent_")),
    [],
  );
  assert.deepEqual(resultsOf(h.getDisplayState()), ["<task_result>\nExplored.\n</task_result>"]);
  await h.close();
});

test("a catalog is listed when a turn begins, so that task offers the agents that there are", async () => {
  const explore = new Agent({ name: "explore", model: script(say("Explored.")), tools: readTools() });
  const researcher = new Agent({ name: "researcher", model: script(say("Researched.")), tools: readTools() });
  const there = new Map([["explore", explore]]);
  const catalog: SubagentCatalog = {
    list: async () => Array.from(there.keys(), (name) => ({ name, description: `The ${name} agent` })),
    resolve: async (name) => there.get(name),
  };
  const model = scriptedBy(({ prompt }) =>
    prompt.at(-1)?.role === "tool" ? say("Done.") : call("task", { agent: "researcher", prompt: "Research" }),
  );
  const h = new Harness({ id: "t", agent: new Agent({ name: "dev", model, tools: { bash }, subagents: catalog }) });
  await h.sendMessage({ content: "first" });
  there.set("researcher", researcher);
  await h.sendMessage({ content: "second" });
  const offered = [0, 2].map((at) =>
    [...toolIn(model, "task", at)!.description.matchAll(/^- (\w+): The/gm)].map(([, name]) => name),
  );
  assert.deepEqual(offered, [["explore"], ["explore", "researcher"]]);
  assert.deepEqual(outcomesOf(h.getDisplayState()), [
    { text: 'There is no subagent "researcher". The subagents are: explore, general-purpose.', isError: true },
    { text: "<task_result>\nResearched.\n</task_result>", isError: false },
  ]);
  await h.close();
});

test("with maxSubagentDepth 2, dev delegates to explore and explore to search, which can't delegate", async () => {
  const searcher = script(call("grep"), say("Found."));
  const search = new Agent({
    name: "search",
    description: "Searches files",
    model: searcher,
    tools: readTools(),
    subagents: [new Agent({ name: "deeper", model: script(say("never")) })],
  });
  const explorer = script(call("task", { agent: "search", prompt: "Search" }), say("Explored."));
  const explore = new Agent({ name: "explore", model: explorer, tools: readTools(), subagents: [search] });
  const model = script(call("task", { agent: "explore", prompt: "Explore" }), say("Done."));
  const dev = new Agent({ name: "dev", model, tools: { bash }, subagents: [explore], maxSubagentDepth: 2 });
  const h = new Harness({ id: "t", agent: dev });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  assert.deepEqual(
    [model, explorer, searcher].map((one) => toolNamesIn(one).includes("task")),
    [true, true, false],
  );
  assert.match(toolIn(explorer, "task")!.description, /^- search: Searches files$/m);
  const [child] = await h.listThreads({ parentId: h.getCurrentThreadId()! });
  const [grandchild] = await h.listThreads({ parentId: child!.id });
  assert.equal(grandchild!.title, "search: Search");
  await h.close();
});

test("onSubagentEvent gets each finished tool call with the full ancestry, at every level of the chain", async () => {
  const seen: string[] = [];
  const log =
    (who: string): NonNullable<ConstructorParameters<typeof Agent>[0]["onSubagentEvent"]> =>
    (path, event) => {
      if (event.type === "tool_end") seen.push(`${who}: [${path.join(" > ")}] ${event.toolName} completed`);
    };
  const search = new Agent({ name: "search", model: script(call("grep"), say("Found.")), tools: readTools() });
  const explore = new Agent({
    name: "explore",
    model: script(call("listFiles"), call("task", { agent: "search", prompt: "Search" }), say("Explored.")),
    tools: readTools(),
    subagents: [search],
    onSubagentEvent: log("explore"),
  });
  const dev = new Agent({
    name: "dev",
    model: script(call("task", { agent: "explore", prompt: "Explore" }), say("Done.")),
    subagents: [explore],
    maxSubagentDepth: 2,
    onSubagentEvent: log("dev"),
  });
  const h = new Harness({ id: "t", agent: dev });
  await h.sendMessage({ content: "go" });
  assert.deepEqual(
    seen.filter((line) => line.startsWith("dev")),
    ["dev: [explore] listFiles completed", "dev: [explore > search] grep completed", "dev: [explore] task completed"],
  );
  assert.deepEqual(
    seen.filter((line) => line.startsWith("explore")),
    ["explore: [explore > search] grep completed"],
  );
  await h.close();
});
