import { appendFileSync, existsSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, CinchError, defineTool, Harness, type HarnessEvent } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { call, say, scriptedBy, type Step } from "@cinch/testkit";
import * as z from "zod";

/**
 * A harness that a test controls: `remote-harness FOLDER`. It enters the only thread of the store. Each line of its input is a method
 * and its argument; each line of its output is a result, or reports that a tool ran.
 */
const [folder = ""] = process.argv.slice(2);
const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);

const input = z.object({ what: z.string() });

function acted(name: string, what: string): string {
  appendFileSync(`${folder}/ledger`, `${name} ${what}\n`);
  print({ ran: `${name} ${what}` });
  return `${name} did ${what}`;
}

const once = defineTool({ description: "Acts", input, execute: ({ what }) => acted("once", what) });
const guarded = defineTool({
  description: "Asks before it acts",
  category: "execute",
  input,
  execute: ({ what }) => acted("guarded", what),
});
const slow = defineTool({
  description: "Runs until a file named go exists",
  input,
  async execute({ what }, { signal }) {
    acted("slow", what);
    while (!existsSync(`${folder}/go`) && !signal.aborted) await pause(10);
    return "done";
  },
});

const lasting = defineTool({
  description: "Asks before it acts, and takes its time",
  category: "execute",
  input,
  async execute({ what }, { signal }) {
    acted("lasting", what);
    await pause(100, undefined, { signal });
    return `lasting did ${what}`;
  },
});

const orders: Record<string, Step[]> = {
  one: [call("guarded", { what: "it" }), say("done")],
  batch: [call(["once", { what: "beside" }], ["guarded", { what: "it" }]), say("done")],
  both: [call(["guarded", { what: "it" }], ["ask_user", { question: "Which?" }]), say("done")],
  again: [call("guarded", { what: "harmless" }, "same"), call("guarded", { what: "harmful" }, "same"), say("done")],
  last: [call("lasting", { what: "it" }), say("done")],
  slow: [call(["slow", { what: "it" }], ["guarded", { what: "it" }]), say("done")],
  tree: [call("task", { agent: "explore", prompt: "explore" }), say("done")],
  explore: [call("task", { agent: "search", prompt: "search" }), say("explored")],
  search: [call("guarded", { what: "deep down" }), say("found")],
  plan: [call("submit_plan", { plan: "Build it." }), call("once", { what: "building" }), say("built")],
};

const model = scriptedBy(({ prompt }) => {
  const texts = prompt.map((message) =>
    message.role === "user" ? message.content.map((part) => (part.type === "text" ? part.text : "")) : [],
  );
  const at = texts.findLastIndex((said) => said.some((text) => Object.hasOwn(orders, text)));
  const order = orders[texts[at]?.findLast((text) => Object.hasOwn(orders, text)) ?? ""];
  const answers = prompt.slice(at).filter((message) => message.role === "assistant").length;
  return order?.[answers] ?? say("nothing to do");
});

const search = new Agent({ name: "search", model, tools: { guarded } });
const explore = new Agent({ name: "explore", model, tools: {}, subagents: [search] });
const agent = new Agent({ name: "desk", model, subagents: [explore], maxSubagentDepth: 2 });
const h = new Harness({
  id: "desk",
  // A driver that a busy machine pauses must not be replaced. One that was killed is, at once.
  storage: sqliteStore({ path: `${folder}/cinch.db`, renewMs: 200, periodMs: 30_000 }),
  tools: { once, guarded, slow, lasting },
  modes: [
    { id: "work", agent },
    { id: "plan", agent, transitionsTo: "build", availableTools: ["submit_plan", "ask_user"] },
    { id: "build", agent },
  ],
  permissions: [{ category: "other", policy: "allow" }],
});

/** Settles when the thread has this status and its inbox is empty. */
function until(status: string): Promise<void> {
  return new Promise((resolve) => {
    const check = (event?: HarnessEvent) => {
      const now = h.getDisplayState();
      if (event?.type === "display_state_changed" || now.status !== status || now.inbox.length > 0) return;
      off();
      resolve();
    };
    const off = h.subscribe(check);
    check();
  });
}

const { id: _, ...commands } = h;
const methods = {
  ...commands,
  until,
  pending: () => h.pending(),
  pendingApprovals: () => h.pendingApprovals(),
  close: () => h.close(),
};

await h.init();
const [thread] = await h.listThreads();
await h.switchThread({ threadId: thread!.id });
const lines = createInterface({ input: process.stdin });
lines.on("line", async (line) => {
  const { id, method, argument } = JSON.parse(line) as { id: number; method: keyof typeof methods; argument: unknown };
  try {
    const work = methods[method] as (given: unknown) => unknown;
    print({ id, result: (await work(argument)) ?? null });
  } catch (error) {
    print({ id, error: error instanceof CinchError ? error.code : String(error) });
  }
  if (method === "close") lines.close();
});
