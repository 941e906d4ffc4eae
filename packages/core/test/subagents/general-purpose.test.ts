import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, registerProfile, textOf, type HarnessMessage, type Subagents } from "@cinch/core";
import { call, say, script, scriptedBy, type ScriptedModel } from "@cinch/testkit";
import { gated } from "../support.ts";

const off = (): Disposable => ({
  [Symbol.dispose]: registerProfile("tuned", { generalPurposeSubagent: false }),
});
const tuned = (model: ScriptedModel): ScriptedModel => Object.assign(model, { provider: "tuned.chat", modelId: "m" });

const results = (messages: readonly HarnessMessage[]): string[] =>
  messages.flatMap(({ outcomes }) => Object.values(outcomes).map(({ result }) => textOf(result.content)));

/** What the model gets, and what a call of `general-purpose` results in. */
async function delegated(subagents?: Subagents) {
  const model = tuned(script(call("task", { agent: "general-purpose", prompt: "Do it" }), say("Done.")));
  const agent = new Agent({ name: "lead", model, subagentBackground: true, ...(subagents ? { subagents } : {}) });
  const h = new Harness({ id: "t", agent });
  await h.sendMessage({ content: "go" });
  const [result] = results(h.getDisplayState().messages);
  await h.close();
  const tools = model.requests[0]!.tools ?? [];
  const task = tools.find(({ name }) => name === "task");
  return { names: tools.map(({ name }) => name), description: JSON.stringify(task ?? ""), result };
}

test("a profile turns general-purpose off: without other subagents there is no task tool", async () => {
  using _ = off();
  assert.deepEqual(await delegated(), {
    names: ["ask_user", "write_todos"],
    description: '""',
    result: 'There is no subagent "general-purpose". The subagents are: none.',
  });
});

test("a profile turns general-purpose off: other subagents stay", async () => {
  using _ = off();
  const { names, description, result } = await delegated([{ name: "reader", description: "Reads" }]);
  assert.ok(names.includes("task") && names.includes("agent_status"));
  assert.ok(description.includes("- reader: Reads") && !description.includes("general-purpose"));
  assert.equal(result, 'There is no subagent "general-purpose". The subagents are: reader.');
});

test("a profile does not turn off the caller's own agent of that name", async () => {
  using _ = off();
  const own = new Agent({ name: "general-purpose", description: "Ours", model: script(say("Ours did it.")) });
  const { description, result } = await delegated([own]);
  assert.ok(description.includes("- general-purpose: Ours"));
  assert.match(result!, /Ours did it\./);
});

test("the profile of a model can turn on again what the profile of its provider turned off", async () => {
  using _ = off();
  const unregister = registerProfile("tuned:m", { generalPurposeSubagent: true });
  const { names } = await delegated();
  unregister();
  assert.ok(names.includes("task"));
});

test("a general-purpose agent that works when a profile turns it off finishes its work", async () => {
  const { gate, started, open } = gated();
  const model = tuned(
    scriptedBy(({ prompt }) => {
      const last = JSON.stringify(prompt.at(-1));
      if (last.includes("go")) return call("task", { agent: "general-purpose", prompt: "Pass" }, "t");
      return last.includes("Pass") ? call("gate", {}, "g") : say("Passed.");
    }),
  );
  const workspace = { tools: { gate }, trusted: false, open: async () => ({}) as never, close: async () => undefined };
  const agent = new Agent({ name: "lead", model });
  const permissions = [{ toolName: "gate", policy: "allow" as const }];
  const h = new Harness({ id: "t", agent, workspace: workspace as never, permissions });
  const turn = h.sendMessage({ content: "go" });
  await started;
  using _ = off();
  open();
  const { reason } = await turn;
  const [result] = results(h.getDisplayState().messages);
  assert.equal(reason, "complete");
  assert.match(result!, /Passed\./);
  await h.close();
});
