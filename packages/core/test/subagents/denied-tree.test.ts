import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, defineTool, Harness, memoryStore, type Policy, type Rule, type ToolSet } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as fc from "fast-check";
import * as z from "zod";

const TOOLS = ["one", "two", "three"] as const;
type Name = (typeof TOOLS)[number];
const DEPTH = 3;

const policy = fc.option(fc.constantFrom<Policy>("allow", "ask", "deny"), { nil: undefined });
const policies = fc.record({ one: policy, two: policy, three: policy });
type Policies = Record<Name, Policy | undefined>;

const setting = fc.record({
  config: policies,
  /** On the top-level thread. */
  thread: policies,
  /** Of the agents below, the outermost first. */
  agents: fc.array(policies, { minLength: DEPTH, maxLength: DEPTH }),
  yolo: fc.boolean(),
  /** What the mode excludes. */
  excluded: fc.subarray([...TOOLS]),
  /** A rule of the top-level thread that comes while the leaf works. */
  late: fc.record({ toolName: fc.constantFrom(...TOOLS), policy: fc.constantFrom<Policy>("allow", "ask", "deny") }),
});

const rulesOf = (given: Policies): Rule[] =>
  TOOLS.flatMap((toolName) => (given[toolName] === undefined ? [] : [{ toolName, policy: given[toolName] }]));

/** What API.md says, written down a second time. */
function mayRun(
  name: Name,
  s: typeof setting extends fc.Arbitrary<infer S> ? S : never,
  threadRules: Policies,
): boolean {
  const all = [s.config[name], threadRules[name], ...s.agents.map((agent) => agent[name])];
  if (s.excluded.includes(name) || all.includes("deny")) return false;
  if (s.yolo) return true;
  // Rules of the thread are newer than those of the configuration. Without a rule, a tool of the category "other" asks.
  const top = threadRules[name] ?? s.config[name] ?? "ask";
  return top === "allow" && !s.agents.some((agent) => agent[name] === "ask");
}

test("a denied tool never runs in a tree of depth 3, whatever the rules of each level, also if they change meanwhile", async () => {
  await fc.assert(
    fc.asyncProperty(setting, async (s) => {
      const ran: { name: Name; isLate: boolean }[] = [];
      const state = { isLate: false };
      const tools: ToolSet = Object.fromEntries(
        TOOLS.map((name) => [
          name,
          defineTool({
            description: name,
            input: z.object({}),
            execute: () => {
              ran.push({ name, ...state });
              return "ok";
            },
          }),
        ]),
      );
      const change = defineTool({
        description: "Changes the rules",
        category: "control",
        input: z.object({}),
        async execute() {
          const { toolName, policy: changed } = s.late;
          await h.setPermissionForTool({ toolName, policy: changed });
          state.isLate = true;
          return "changed";
        },
      });
      const all = call(...TOOLS.map((name) => [name, {}] as [string, unknown]));
      let agent = new Agent({
        name: "leaf",
        model: script(all, call("change", {}), all, say("done")),
        tools: { ...tools, change },
        permissions: rulesOf(s.agents[DEPTH - 1]!),
      });
      for (let level = DEPTH - 2; level >= 0; level--)
        agent = new Agent({
          name: `level${level}`,
          model: script(call("task", { agent: agent.name, prompt: "go" }), say("ok")),
          tools: {},
          subagents: [agent],
          permissions: rulesOf(s.agents[level]!),
        });
      const model = script(call("task", { agent: agent.name, prompt: "go" }), say("ok"));
      const h = new Harness({
        id: "t",
        storage: memoryStore(),
        permissions: rulesOf(s.config),
        onAsk: "decline",
        modes: [
          {
            id: "only",
            agent: new Agent({ name: "top", model, subagents: [agent], maxSubagentDepth: DEPTH }),
            availableTools: ["task", "change", ...TOOLS.filter((name) => !s.excluded.includes(name))],
          },
        ],
      });
      await h.createThread();
      for (const { toolName, policy: given } of rulesOf(s.thread) as { toolName: string; policy: Policy }[])
        await h.setPermissionForTool({ toolName, policy: given });
      if (s.yolo) await h.setState({ yolo: true });
      assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
      await h.close();
      const before = TOOLS.filter((name) => mayRun(name, s, s.thread));
      const after = TOOLS.filter((name) => mayRun(name, s, { ...s.thread, [s.late.toolName]: s.late.policy }));
      const namesOf = (isLate: boolean) => ran.filter((one) => one.isLate === isLate).map(({ name }) => name);
      assert.deepEqual([namesOf(false).toSorted(), namesOf(true).toSorted()], [before.toSorted(), after.toSorted()]);
    }),
    { numRuns: 60 },
  );
});
