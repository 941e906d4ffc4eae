import assert from "node:assert/strict";
import { Agent, Harness, textOf } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";

const researcher = new Agent({ name: "researcher", model: script(say("Two APIs are deprecated.")), tools: {} });
const dev = new Agent({
  name: "dev",
  model: script(
    call("task", { agent: "researcher", prompt: "Find deprecated APIs", background: true }),
    call("agent_await", { ids: ["bg-1"], mode: "all" }),
    say("Two."),
  ),
  subagents: [researcher],
  subagentBackground: { maxConcurrent: 3, timeout: 120_000 },
});
const harness = new Harness({ id: "background", agent: dev });
const { message } = await harness.sendMessage({ content: "Which APIs are deprecated?" });
assert.equal(textOf(message!.content), "Two.");
await harness.close();
