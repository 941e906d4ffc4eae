import assert from "node:assert/strict";
import { Agent, defineTool, Harness, textOf } from "@cinch/core";
import { call, say, scriptedBy } from "@cinch/testkit";
import { createWorkspace, memoryBackend } from "@cinch/workspace";
import * as z from "zod";

const report = Array.from({ length: 10_000 }, (_, at) => `${at}: ${at === 7_777 ? "FAILED" : "passed"}`).join("\n");
const test = defineTool({
  description: "Runs all tests",
  category: "read",
  input: z.object({}),
  execute: () => report,
});
const model = scriptedBy(({ prompt }) => {
  const last = prompt.at(-1)!;
  if (last.role === "user") return call("test");
  const path = /\/\.cinch\/context\/\S+\.txt/.exec(JSON.stringify(last.content))?.[0];
  return path === undefined
    ? say("Test 7777 fails.")
    : call("grep", { pattern: "FAILED", path, output_mode: "content" });
});
const agent = new Agent({ name: "tester", model, tools: { test } });
const harness = new Harness({ id: "long", agent, workspace: createWorkspace({ backend: memoryBackend() }) });
await harness.sendMessage({ content: "Does it work?" });

const outcomes = harness.getDisplayState().messages.flatMap((message) => Object.values(message.outcomes));
const [excerpt, found] = outcomes.map(({ result }) => textOf(result.content));
assert.ok(excerpt!.length < 13_000 && excerpt!.startsWith("0: passed\n") && excerpt!.endsWith("\n9999: passed"));
assert.match(found!, /^1 line in 1 file\n.*:7778:7777: FAILED$/);
await harness.close();
