import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, defineTool, Harness, memoryStore, registerProfile, textOf, type HarnessMessage } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { call, say, script, scriptedBy, type ScriptedModel } from "@cinch/testkit";
import { tool } from "ai";
import * as z from "zod";
import { asking, gated, harness, next, noting } from "../support.ts";

const excluding = (key: string, ...excludedTools: string[]): Disposable => ({
  [Symbol.dispose]: registerProfile(key, { excludedTools }),
});

const tuned = (model: ScriptedModel): ScriptedModel => Object.assign(model, { provider: "tuned.chat", modelId: "m" });

const results = (messages: readonly HarnessMessage[]): string[] =>
  messages.flatMap(({ outcomes }) => Object.values(outcomes).map(({ result }) => textOf(result.content)));

const DENIED = 'Denied: the tool "note" is not available to this model. Continue without it.';
const noteIt = () => tuned(script(call("note", { what: "it" }), say("Done.")));

for (const [how, options] of Object.entries({
  "with an allow rule": { permissions: [{ toolName: "note", policy: "allow" as const }] },
  "under YOLO": { permissions: [], initialState: { yolo: true } },
  "that would ask": { permissions: [] },
}))
  test(`a call of an excluded tool ${how} is refused, and the model gets the reason`, async () => {
    using _ = excluding("tuned", "note");
    const { note, runs } = noting();
    await using h = await harness({ model: noteIt(), tools: { note }, ...options });
    assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
    assert.deepEqual([runs, results(h.getDisplayState().messages)], [[], [DENIED]]);
  });

test("an extra tool that is excluded is not listed and refused", async () => {
  const { note, runs } = noting();
  using _ = { [Symbol.dispose]: registerProfile("tuned", { extraTools: { note }, excludedTools: ["note"] }) };
  const model = noteIt();
  await using h = await harness({ model });
  await h.sendMessage({ content: "go" });
  assert.deepEqual([runs, results(h.getDisplayState().messages)], [[], [DENIED]]);
  assert.ok(model.requests.every(({ tools }) => !tools?.some(({ name }) => name === "note")));
});

test("the note about the tools of a mode does not name an excluded one", async () => {
  using _ = excluding("tuned", "note");
  const model = tuned(script(say("Hi.")));
  const agent = new Agent({ name: "a", model, tools: { note: noting().note } });
  const h = new Harness({ id: "t", modes: [{ id: "plan", agent, availableTools: ["note", "ask_user"] }] });
  await h.sendMessage({ content: "go" });
  assert.match(JSON.stringify(model.requests[0]!.prompt), /Only these tools can be used here: ask_user\./);
  await h.close();
});

test("a call that waits for an approval when the profile is registered is refused after the approval", async () => {
  const { note, runs } = noting();
  await using h = await harness({ model: noteIt(), tools: { note }, permissions: [] });
  const turn = h.sendMessage({ content: "go" });
  await h.settled();
  using _ = excluding("tuned:m", "note");
  await h.respondToToolApproval({ decision: "approve" });
  assert.equal((await turn).reason, "complete");
  assert.deepEqual([runs, results(h.getDisplayState().messages)], [[], [DENIED]]);
});

for (const answer of [
  { decision: "edit" as const, args: { what: "something else" } },
  { decision: "always_allow_tool" as const },
  { decision: "always_allow_category" as const },
])
  test(`a call that waits is refused after the answer ${answer.decision}, and so is the next one`, async () => {
    const { note, runs } = noting();
    const model = tuned(script(call("note", { what: "it" }, "1"), call("note", { what: "more" }, "2"), say("Done.")));
    await using h = await harness({ model, tools: { note }, permissions: [] });
    const turn = h.sendMessage({ content: "go" });
    await h.settled();
    using _ = excluding("tuned", "note");
    await h.respondToToolApproval(answer);
    assert.equal((await turn).reason, "complete");
    assert.deepEqual([runs, results(h.getDisplayState().messages)], [[], [DENIED, DENIED]]);
  });

test("an excluded tool that does not exist, and one of the AI SDK, are hidden and refused like others", async () => {
  using _ = excluding("tuned", "add", "no_such_tool");
  let runs = 0;
  const add = tool({ description: "Adds", inputSchema: z.object({}), execute: () => `${++runs}` });
  const model = tuned(script(call("add"), call("no_such_tool"), say("Done.")));
  await using h = await harness({ model, tools: { add }, initialState: { yolo: true } });
  await h.sendMessage({ content: "go" });
  const [first, second] = results(h.getDisplayState().messages);
  assert.equal(runs, 0);
  assert.match(first!, /^Denied: the tool "add" is not available to this model/);
  assert.match(second!, /^There is no tool "no_such_tool"\. The tools are: (?!.*\badd\b)/);
  assert.ok(model.requests.every(({ tools }) => !tools?.some(({ name }) => name === "add")));
});

test("an excluded task tool starts no subagent, in the foreground and in the background", async () => {
  using _ = excluding("tuned", "task");
  const task = (background: boolean) => call("task", { agent: "general-purpose", prompt: "Go.", background });
  const model = tuned(script(task(false), task(true), say("Done.")));
  const agent = new Agent({ name: "lead", model, subagentBackground: true });
  const h = new Harness({ id: "t", agent, initialState: { yolo: true } });
  await h.sendMessage({ content: "go" });
  assert.match(results(h.getDisplayState().messages).join(), /^Denied: .*"task".*Denied: .*"task"/);
  assert.deepEqual(await h.listThreads({ parentId: h.getDisplayState().threadId! }), []);
  await h.close();
});

test("a fork and a background subagent on the model of a profile can't call what it excludes", async () => {
  const { note, runs } = noting();
  const model = tuned(
    scriptedBy(({ prompt }) => {
      const last = JSON.stringify(prompt.at(-1));
      if (last.includes("Note it")) return call("note", { what: "it" }, "n");
      if (!last.includes("go")) return say("Done.");
      const started = { prompt: "Note it" };
      return call(
        ["task", { agent: "forked", ...started }],
        ["task", { agent: "child", ...started, background: true }],
      );
    }),
  );
  const subagents = [new Agent({ name: "forked", forked: true }), new Agent({ name: "child", model, tools: { note } })];
  const agent = new Agent({ name: "lead", model, tools: { note }, subagents, subagentBackground: true });
  const h = new Harness({ id: "t", agent, initialState: { yolo: true } });
  using _ = excluding("tuned", "note");
  await h.sendMessage({ content: "go" });
  await h.settled();
  const children = await h.listThreads({ parentId: h.getDisplayState().threadId! });
  const refused = model.requests.filter(({ prompt }) =>
    JSON.stringify(prompt.at(-1)).includes("not available to this"),
  );
  assert.deepEqual([runs, children.length, refused.length], [[], 2, 2]);
  await h.close();
});

test("YOLO declines a call that waits and that a profile excludes now", async () => {
  const { note, runs } = noting();
  await using h = await harness({ model: noteIt(), tools: { note }, permissions: [] });
  const turn = h.sendMessage({ content: "go" });
  await h.settled();
  using _ = excluding("tuned:m", "note");
  await h.setState({ yolo: true });
  assert.equal((await turn).reason, "complete");
  assert.deepEqual([runs, results(h.getDisplayState().messages)], [[], [DENIED]]);
});

test("a call that is approved while a call beside it runs is refused if the profile was registered meanwhile", async () => {
  const { note, runs } = noting();
  const { gate, started, open } = gated();
  const model = tuned(script(call(["gate", {}, "g"], ["note", { what: "it" }, "n"]), say("Done.")));
  const permissions = [{ toolName: "gate", policy: "allow" as const }];
  await using h = await harness({ model, tools: { note, gate }, permissions });
  const asked = next(h, "tool_approval_required");
  const turn = h.sendMessage({ content: "go" });
  await Promise.all([started, asked]);
  using _ = excluding("tuned", "note");
  await h.respondToToolApproval({ decision: "approve" });
  open();
  assert.equal((await turn).reason, "complete");
  assert.deepEqual([runs, results(h.getDisplayState().messages)], [[], [DENIED, "through"]]);
});

test("an answered question of an excluded tool does not run the tool again", async () => {
  const model = tuned(script(call("ask", { question: "Which?" }), say("Done.")));
  await using h = await harness({ model, tools: { ask: asking } });
  const turn = h.sendMessage({ content: "go" });
  await h.settled();
  using _ = excluding("tuned", "ask");
  await h.respondToToolSuspension({ resumeData: "this one" });
  await turn;
  assert.deepEqual(results(h.getDisplayState().messages), [
    'Denied: the tool "ask" is not available to this model. Continue without it.',
  ]);
});

/** Asks for an approval of `note` in one process, and approves it in another one. */
async function approvedAfterRestart(
  before: ScriptedModel | string,
  after: { resolveModel?: () => Promise<ScriptedModel> },
) {
  const data = new MemoryData();
  const { note, runs } = noting();
  const agent = new Agent({ name: "a", model: before, tools: { note } });
  const first = new Harness({ id: "t", agent, storage: memoryStore(data), resolveModel: async () => noteIt() });
  const turn = first.sendMessage({ content: "go" });
  turn.catch(() => undefined);
  await first.settled();
  await first.close();
  using _ = excluding("tuned", "note");
  const h = new Harness({ id: "t", agent, storage: memoryStore(data), ...after });
  await h.selectOrCreateThread();
  await h.respondToToolApproval({ decision: "approve" });
  await h.settled();
  const { messages } = h.getDisplayState();
  await h.close();
  return { runs, results: results(messages) };
}

test("a call of an earlier process is refused after a restart, with a model object and with a resolved model", async () => {
  const refused = { runs: [], results: [DENIED] };
  assert.deepEqual(await approvedAfterRestart(noteIt(), {}), refused);
  assert.deepEqual(await approvedAfterRestart("by name", { resolveModel: async () => noteIt() }), refused);
});

test("a call of a model that can't be resolved after a restart is refused if some profile excludes its tool", async () => {
  const resolveModel = async () => {
    throw new Error("The list of models is down.");
  };
  assert.deepEqual(await approvedAfterRestart("by name", { resolveModel }), { runs: [], results: [DENIED] });
});

test("a call that a crash interrupted is not run again, and its outcome is unknown", async () => {
  const data = new MemoryData();
  const { gate, runs, started } = gated("idempotent");
  const model = tuned(script(call("gate"), say("Done.")));
  const agent = new Agent({ name: "a", model, tools: { gate } });
  const config = { id: "t", agent, permissions: [{ toolName: "gate", policy: "allow" as const }] };
  const first = new Harness({ ...config, storage: memoryStore(data) });
  first.sendMessage({ content: "go" }).catch(() => undefined);
  await started;
  await first.close();
  using _ = excluding("tuned", "gate");
  const h = new Harness({ ...config, storage: memoryStore(data) });
  await h.selectOrCreateThread();
  await h.settled();
  assert.equal(runs.length, 1);
  assert.match(results(h.getDisplayState().messages).join(""), /not available to this model.*outcome is unknown/);
  await h.close();
});

test("a call is judged by the profile of the model that made it, not of the model that was switched to meanwhile", async () => {
  const { note, runs } = noting();
  const other = Object.assign(script(say("Never."), say("Done.")), { provider: "other", modelId: "m" });
  const models: Record<string, ScriptedModel> = { tuned: noteIt(), other };
  const agent = new Agent({ name: "a", model: "tuned", tools: { note } });
  const h = new Harness({ id: "t", agent, resolveModel: (id) => models[id]! });
  for (const [excludedFor, expected] of [
    ["tuned", 0],
    ["other", 1],
  ] as const) {
    await h.createThread();
    await h.switchModel({ modelId: "tuned" });
    const turn = h.sendMessage({ content: "go" });
    await h.settled();
    using _ = excluding(excludedFor, "note");
    await h.switchModel({ modelId: "other" });
    await h.respondToToolApproval({ decision: "approve" });
    await turn;
    assert.equal(runs.length, expected);
  }
  await h.close();
});

test("a subagent on the model of a profile can't call what it excludes; one on another model can", async () => {
  using _ = excluding("tuned", "note");
  const { note, runs } = noting();
  const worker = (name: string, model: ScriptedModel) => new Agent({ name, model, tools: { note } });
  const plain = script(call("note", { what: "plain" }), say("Done."));
  const lead = script(
    call(["task", { agent: "tuned", prompt: "a" }], ["task", { agent: "plain", prompt: "b" }]),
    say("Done."),
  );
  const agent = new Agent({
    name: "lead",
    model: lead,
    subagents: [worker("tuned", noteIt()), worker("plain", plain)],
  });
  const permissions = [{ toolName: "note", policy: "allow" as const }];
  const h = new Harness({ id: "t", agent, permissions, initialState: { yolo: true } });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  assert.deepEqual(
    runs.map((run) => (run as { what: string }).what),
    ["plain"],
  );
  await h.close();
});

test("a profile is not inherited: a parent's model that excludes a tool does not take it from a child on another model", async () => {
  using _ = excluding("tuned", "note");
  const { note, runs } = noting();
  const child = new Agent({
    name: "child",
    model: script(call("note", { what: "it" }), say("Done.")),
    tools: { note },
  });
  const model = tuned(script(call("task", { agent: "child", prompt: "a" }), say("Done.")));
  const agent = new Agent({ name: "lead", model, subagents: [child] });
  const h = new Harness({ id: "t", agent, permissions: [{ toolName: "note", policy: "allow" }] });
  await h.sendMessage({ content: "go" });
  assert.equal(runs.length, 1);
  await h.close();
});

test("a subagent without a model of its own has the profile of its parent's model", async () => {
  using _ = excluding("tuned", "note");
  const { note, runs } = noting();
  const model = tuned(
    scriptedBy(({ prompt }) => {
      const last = JSON.stringify(prompt.at(-1));
      if (last.includes("Note it")) return call("note", { what: "it" }, "n");
      return last.includes("go") ? call("task", { agent: "child", prompt: "Note it" }, "t") : say("Done.");
    }),
  );
  const agent = new Agent({ name: "lead", model, subagents: [new Agent({ name: "child", tools: { note } })] });
  const h = new Harness({ id: "t", agent, permissions: [{ toolName: "note", policy: "allow" }] });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  assert.deepEqual(runs, []);
  await h.close();
});

test("an extra tool that asked runs after a restart, in a process with the profile", async () => {
  const data = new MemoryData();
  const runs: string[] = [];
  const extra = defineTool({ description: "Extra", input: z.object({}), execute: () => `run ${runs.push("extra")}` });
  using _ = { [Symbol.dispose]: registerProfile("tuned", { extraTools: { extra } }) };
  const model = tuned(script(call("extra"), say("Done.")));
  const agent = new Agent({ name: "a", model: "by name" });
  const config = { id: "t", agent, resolveModel: async () => model };
  const first = new Harness({ ...config, storage: memoryStore(data) });
  first.sendMessage({ content: "go" }).catch(() => undefined);
  await first.settled();
  await first.close();
  const h = new Harness({ ...config, storage: memoryStore(data) });
  await h.selectOrCreateThread();
  await h.respondToToolApproval({ decision: "approve" });
  await h.settled();
  assert.deepEqual([runs, results(h.getDisplayState().messages)], [["extra"], ["run 1"]]);
  await h.close();
});
