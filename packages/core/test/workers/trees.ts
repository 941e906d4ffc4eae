import { Agent, type HarnessConfig } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import { noting, permissions } from "../support.ts";

type Configured = Pick<HarnessConfig, "agent" | "permissions">;

/** An agent that delegates to one that uses a tool, and then uses it itself. */
export function delegating(runs: unknown[]): Configured {
  const { note } = noting(runs);
  const searches = script(call("note", { what: "in the tree" }), say("Found it."));
  const search = new Agent({ name: "search", model: searches, tools: { note } });
  const asks = script(call("task", { agent: "search", prompt: "Search" }), call("note", { what: "x" }), say("Done."));
  return { agent: new Agent({ name: "dev", model: asks, tools: { note }, subagents: [search] }), permissions };
}

/** An agent that starts two runs in the background, of which one may run at a time, and waits for both. */
export function queueing(runs: unknown[]): Configured {
  const { note } = noting(runs);
  const searches = script(call("note", { what: "in the tree" }), say("Found it."));
  const search = new Agent({ name: "search", model: searches, tools: { note } });
  const asks = script(
    call(
      ["task", { agent: "search", prompt: "one", background: true }, "a"],
      ["task", { agent: "search", prompt: "two", background: true }, "b"],
    ),
    call("agent_await", { ids: ["bg-1", "bg-2"], mode: "all", timeout_ms: 600_000 }),
    say("Done."),
  );
  const subagentBackground = { maxConcurrent: 1, wake: false };
  return { agent: new Agent({ name: "dev", model: asks, subagents: [search], subagentBackground }), permissions };
}
