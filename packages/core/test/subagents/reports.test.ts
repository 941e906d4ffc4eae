import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore, textOf, type Model } from "@cinch/core";
import { call, fail, finish, parts, say, script } from "@cinch/testkit";

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

const cutOff = (text: string, reason: "length" | "content-filter") =>
  script(
    parts(
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: text },
      { type: "text-end", id: "t" },
      finish(reason),
    ),
  );

test("a report that was cut off says so after the text of the subagent", async () => {
  const reports = await Promise.all([
    resultOf(cutOff("The first half", "length")),
    resultOf(cutOff("The harmless half", "content-filter")),
    resultOf(script(say("The whole"))),
  ]);
  assert.deepEqual(reports, [
    { text: "<task_result>\nThe first half\n[The report was cut off: length.]\n</task_result>", isError: false },
    {
      text: "<task_result>\nThe harmless half\n[The report was cut off: content-filter.]\n</task_result>",
      isError: false,
    },
    { text: "<task_result>\nThe whole\n</task_result>", isError: false },
  ]);
});

test("a report that was cut off and is too long for a result says both", async () => {
  const { text } = await resultOf(cutOff("x".repeat(40_000), "length"));
  assert.match(
    text,
    /x\n\[cut; the whole report is the last message of thread .*\]\n\[The report was cut off: length\.\]\n<\/task_result>$/,
  );
});

test("a report that was cut off in the background says so when it is awaited, and in the note that wakes the parent", async () => {
  const child = new Agent({ name: "child", model: cutOff("The first half", "length"), tools: {} });
  const start = call("task", { agent: "child", prompt: "Do it", background: true });
  const report = (id: string) =>
    `<task_result agent_id="${id}">\nThe first half\n[The report was cut off: length.]\n</task_result>`;
  const model = script(start, call("agent_await", { ids: ["bg-1"], mode: "all" }), say("Done."), start, say("Later."));
  const lead = new Agent({ name: "lead", model, subagents: [child], subagentBackground: true });
  const h = new Harness({ id: "t", agent: lead });
  await h.sendMessage({ content: "go" });
  await h.sendMessage({ content: "again" });
  await h.settled();
  const { messages } = h.getDisplayState();
  const results = messages.flatMap(({ outcomes }) =>
    Object.values(outcomes).map(({ result }) => textOf(result.content)),
  );
  assert.ok(results.includes(`bg-1 (child): complete\n${report("bg-1")}`), results.join("\n"));
  assert.deepEqual(
    messages.filter(({ role }) => role === "note").map(({ content }) => textOf(content)),
    [`The background subagent bg-2 (child) has ended: complete.\n${report("bg-2")}`],
  );
  await h.close();
});
