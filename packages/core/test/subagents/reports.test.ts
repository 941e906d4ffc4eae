import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore, textOf, type Model } from "@cinch/core";
import { call, fail, say, script } from "@cinch/testkit";

const apiError = (statusCode: number, message: string) =>
  Object.assign(new Error(message), { name: "AI_APICallError", statusCode });

const isEnd = ({ type }: { type: string }) => type === "tool_end";

/** The result of a call of `task` whose subagent has this model. */
async function resultOf(model: Model) {
  const child = new Agent({ name: "child", model, tools: {} });
  const lead = script(call("task", { agent: "child", prompt: "Do it" }), say("Done."));
  const storage = memoryStore();
  const h = new Harness({ id: "t", agent: new Agent({ name: "lead", model: lead, subagents: [child] }), storage });
  await h.sendMessage({ content: "go" });
  const end = (await storage.read(h.getCurrentThreadId()!)).find(isEnd);
  await h.close();
  assert.ok(end?.type === "tool_end");
  return { text: textOf(end.result.content), isError: end.isError };
}

test("a subagent whose provider refuses its request says why in the result of its call", async () => {
  assert.deepEqual(await resultOf(script(fail(apiError(402, "Your credit balance is too low")))), {
    text: "<task_result>\nThe subagent failed (PROVIDER_REJECTED: Your credit balance is too low). It had said nothing yet.\n</task_result>",
    isError: true,
  });
});

test("a subagent whose model can't be resolved says which model it is in the result of its call", async () => {
  const { text, isError } = await resultOf("nobody/unknown");
  assert.match(text, /^<task_result>\nThe subagent failed \(INVALID_CONFIG: .*nobody\/unknown.*\)\. It had said/s);
  assert.equal(isError, true);
});

test("a failure that a provider describes at length is cut in the result of the call", async () => {
  const { text } = await resultOf(script(fail(apiError(400, "x".repeat(5_000)))));
  assert.match(
    text,
    /^<task_result>\nThe subagent failed \(PROVIDER_REJECTED: x{400,500}…\)\. It had said nothing yet\./,
  );
});
