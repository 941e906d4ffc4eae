import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, defineTool, Harness, memoryStore, registerProfile, type HarnessConfig } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { call, say, scriptedBy } from "@cinch/testkit";
import * as fc from "fast-check";
import * as z from "zod";

const KEYS = ["tuned", "tuned:m", "other", "tuned:n"] as const;
/** The keys that are for the model that calls the tool. */
const BINDING: readonly string[] = ["tuned", "tuned:m"];

type Op =
  | { do: "toggle"; key: (typeof KEYS)[number] }
  | { do: "yolo"; on: boolean }
  | { do: "allow" | "approve" | "say" | "restart" | "abort" };

const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("toggle" as const), key: fc.constantFrom(...KEYS) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("yolo" as const), on: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom("allow", "approve", "approve", "say", "say", "restart", "abort") }),
  },
);

const plan = fc.record({
  ops: fc.array(op, { minLength: 4, maxLength: 14 }),
  /** The model is given as a string. */
  isNamed: fc.boolean(),
  /** A subagent calls the tool. */
  isChild: fc.boolean(),
});

/** Runs a plan. Returns how often the tool ran, and how often it ran while a profile excluded it. */
async function run({ ops, isNamed, isChild }: { ops: Op[]; isNamed: boolean; isChild: boolean }) {
  const registered = new Map<string, () => void>();
  const ran = { all: 0, excluded: 0 };
  const act = defineTool({
    description: "Acts",
    effect: "idempotent",
    input: z.object({}),
    execute: () => {
      ran.all++;
      if (BINDING.some((key) => registered.has(key))) ran.excluded++;
      return "acted";
    },
  });
  const acting = scriptedBy(({ prompt }) => (prompt.at(-1)?.role === "tool" ? say("Done.") : call("act")));
  const tuned = Object.assign(acting, { provider: "tuned.chat", modelId: "m" });
  const model = isNamed ? "by name" : tuned;
  const lead = scriptedBy(({ prompt }) =>
    prompt.at(-1)?.role === "tool" ? say("Done.") : call("task", { agent: "worker", prompt: "Act." }),
  );
  const worker = new Agent({ name: "worker", model, tools: { act } });
  const agent = isChild ? new Agent({ name: "lead", model: lead, subagents: [worker] }) : worker;
  const data = new MemoryData();
  const config: HarnessConfig = { id: "t", agent, resolveModel: async () => tuned };
  const open = async () => {
    const opened = new Harness({ ...config, storage: memoryStore(data) });
    await opened.selectOrCreateThread();
    await opened.settled();
    return opened;
  };
  let h = await open();
  try {
    for (const one of ops) {
      switch (one.do) {
        case "toggle": {
          const unregister = registered.get(one.key);
          unregister?.();
          if (unregister) registered.delete(one.key);
          else registered.set(one.key, registerProfile(one.key, { excludedTools: ["act"] }));
          break;
        }
        case "yolo":
          await h.setState({ yolo: one.on });
          break;
        case "allow":
          await h.grantSessionTool({ toolName: "act" });
          break;
        case "approve":
          if (h.getDisplayState().pendingApproval) await h.respondToToolApproval({ decision: "approve" });
          break;
        case "say":
          await h.post({ content: "Go.", delivery: "send" });
          break;
        case "restart":
          await h.close();
          h = await open();
          break;
        case "abort":
          await h.abort();
      }
      await h.settled();
    }
  } finally {
    await h.close();
    for (const unregister of registered.values()) unregister();
  }
  return ran;
}

test("a tool never runs while a profile of its model excludes it, whatever was said, approved or restarted", async () => {
  let runs = 0;
  const property = fc.asyncProperty(plan, async (drawn) => {
    const ran = await run(drawn);
    runs += ran.all;
    assert.equal(ran.excluded, 0);
  });
  await fc.assert(property, { numRuns: 150 });
  assert.ok(runs > 30, `the tool ran ${runs} times`);
});
