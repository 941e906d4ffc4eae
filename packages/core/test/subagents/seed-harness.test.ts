import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness } from "@cinch/core";
import { call, say, script, scriptedBy, type ScriptedModel } from "@cinch/testkit";
import { askedIn, readTools, resultsOf, toolIn, toolNamesIn } from "./requests.ts";

// The examples in which the harness has the subagents, for the agents of all its modes.

const instructionsIn = ({ requests }: ScriptedModel, at = 0): unknown =>
  requests[at]?.prompt.find(({ role }) => role === "system")?.content;

test("a subagent of the harness has its own instructions, model and tools, and sees nothing of the conversation", async () => {
  const reviewer = script(call("grep"), say("One bug."));
  const asked: string[] = [];
  const model = script(call("task", { agent: "reviewer-agent", prompt: "Review the diff" }), say("One bug."));
  const { readFile, grep } = readTools();
  const h = new Harness({
    id: "t",
    agent: new Agent({ name: "dev", model, instructions: "Develop." }),
    resolveModel: (modelId) => {
      asked.push(modelId);
      return reviewer;
    },
    subagents: [
      {
        id: "reviewer-agent",
        name: "Reviewer Agent",
        description: "Reviews the diff for bugs",
        instructions: "Be skeptical.",
        defaultModelId: "anthropic/claude-opus-4-6",
        tools: { readFile: readFile!, grep: grep! },
      },
    ],
  });
  await h.sendMessage({ content: "I changed the parser" });
  assert.match(toolIn(model, "task")!.description, /^- reviewer-agent: Reviews the diff for bugs$/m);
  assert.deepEqual(resultsOf(h.getDisplayState()), ["<task_result>\nOne bug.\n</task_result>"]);
  assert.deepEqual(
    [instructionsIn(reviewer), askedIn(reviewer), new Set(asked)],
    ["Be skeptical.", ["Review the diff"], new Set(["anthropic/claude-opus-4-6"])],
  );
  assert.deepEqual(
    toolNamesIn(reviewer).filter((name) => name !== "ask_user" && name !== "write_todos"),
    ["readFile", "grep"],
  );
  await h.close();
});

test("a subagent with an id and a name is listed by its id, and also found by its name", async () => {
  const model = script(
    call(
      ["task", { agent: "reviewer-agent", prompt: "Review a" }],
      ["task", { agent: "Reviewer Agent", prompt: "Review b" }],
    ),
    say("Done."),
  );
  const reviewer = script(say("One bug."));
  const h = new Harness({
    id: "t",
    agent: new Agent({ name: "dev", model }),
    subagents: [{ id: "reviewer-agent", name: "Reviewer Agent", model: reviewer, tools: {} }],
  });
  await h.sendMessage({ content: "Review" });
  assert.match(toolIn(model, "task")!.description, /^- reviewer-agent: Reviewer Agent$/m);
  const report = "<task_result>\nOne bug.\n</task_result>";
  assert.deepEqual(resultsOf(h.getDisplayState()), [report, report]);
  await h.close();
});

test("a subagent whose name is the id of another one is not found in its place", async () => {
  const model = script(call("task", { agent: "tester", prompt: "Test" }), say("Done."));
  const h = new Harness({
    id: "t",
    agent: new Agent({ name: "dev", model }),
    subagents: [
      { id: "one", name: "tester", model: script(say("The first.")), tools: {} },
      { id: "tester", model: script(say("The second.")), tools: {} },
    ],
  });
  await h.sendMessage({ content: "Test" });
  assert.deepEqual(resultsOf(h.getDisplayState()), ["<task_result>\nThe second.\n</task_result>"]);
  await h.close();
});

test("a forked subagent continues the conversation as the agent of the mode that delegated", async () => {
  const model = (): ScriptedModel =>
    scriptedBy(({ prompt }) => {
      const last = JSON.stringify(prompt.at(-1));
      if (last.includes("Explore it")) return say("Explored.");
      return prompt.at(-1)?.role === "tool"
        ? say("Done.")
        : call("task", { agent: "explorer-agent", prompt: "Explore it" });
    });
  const [plan, execute] = [model(), model()];
  const h = new Harness({
    id: "t",
    modes: [
      {
        id: "plan",
        metadata: { default: true },
        agent: new Agent({ name: "plan", model: plan, instructions: "Plan." }),
        transitionsTo: "execute",
      },
      { id: "execute", agent: new Agent({ name: "execute", model: execute, instructions: "Execute." }) },
    ],
    subagents: [{ id: "explorer-agent", description: "Explores the codebase", forked: true }],
  });
  await h.sendMessage({ content: "first" });
  await h.switchMode({ modeId: "execute" });
  await h.sendMessage({ content: "second" });
  for (const [of, instructions, content] of [
    [plan, "Plan.", "first"],
    [execute, "Execute.", "second"],
  ] as const) {
    const [parent, fork, after] = of.requests;
    assert.equal(of.requests.length, 3);
    assert.equal(JSON.stringify(fork!.prompt.slice(0, parent!.prompt.length)), JSON.stringify(parent!.prompt));
    assert.equal(JSON.stringify(fork!.tools), JSON.stringify(parent!.tools));
    assert.deepEqual([instructionsIn(of, 1), askedIn(of, 1).includes(content)], [instructions, true]);
    // What the fork did is not part of the parent's conversation.
    assert.equal(JSON.stringify(after!.prompt).includes("This is the fork"), false);
  }
  await h.close();
});

test("every agent has a general-purpose subagent, with its own model, until subagents is false", async () => {
  const model = scriptedBy(({ prompt }) => {
    const last = JSON.stringify(prompt.at(-1));
    if (last.includes("Look closely")) return say("Looked.");
    return prompt.at(-1)?.role === "tool"
      ? say("Done.")
      : call("task", { agent: "general-purpose", prompt: "Look closely" });
  });
  const h = new Harness({ id: "t", agent: new Agent({ name: "dev", model }) });
  await h.sendMessage({ content: "go" });
  assert.deepEqual(
    [resultsOf(h.getDisplayState()), askedIn(model, 1)],
    [["<task_result>\nLooked.\n</task_result>"], ["Look closely"]],
  );
  await h.close();
  const alone = script(say("Alone."));
  const without = new Harness({ id: "t", agent: new Agent({ name: "dev", model: alone }), subagents: false });
  await without.sendMessage({ content: "go" });
  assert.equal(toolNamesIn(alone).includes("task"), false);
  await without.close();
});
