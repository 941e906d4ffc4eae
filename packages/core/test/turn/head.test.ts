import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore, type HarnessEvent, type ToolSet } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { say, script } from "@cinch/testkit";
import { noting, permissions } from "../support.ts";

/** Runs one turn in a new process. Returns the head that the model got, and the heads that were recorded. */
async function say1(data: MemoryData, instructions: string | (() => string), tools: ToolSet = {}) {
  const model = script(say("one"), say("two"), say("three"), say("four"));
  const agent = new Agent({ name: "a", model, instructions, tools });
  const h = new Harness({ id: "x", storage: memoryStore(data), agent, permissions });
  const heads: HarnessEvent[] = [];
  h.subscribe((event) => void (event.type === "prompt_head" && heads.push(event)));
  await h.sendMessage({ content: "go" });
  await h.sendMessage({ content: "on" });
  await h.close();
  return {
    systems: model.requests.map(({ prompt }) => prompt[0]?.role === "system" && prompt[0].content),
    tools: model.requests.map(({ tools: listed = [] }) => listed.map(({ name }) => name)),
    reasons: heads.map((event) => event.type === "prompt_head" && event.reason),
  };
}

test("the head is recorded when it is first used, and not again for the next turn or process", async () => {
  const data = new MemoryData();
  assert.deepEqual((await say1(data, "Be brief.")).reasons, ["first use"]);
  assert.deepEqual((await say1(data, "Be brief.")).reasons, []);
});

test("an instructions function is called for the head, not for each request: the prompt stays the same, also in another process", async () => {
  const data = new MemoryData();
  let calls = 0;
  const instructions = () => `Called ${++calls} times.`;
  const first = await say1(data, instructions);
  const second = await say1(data, instructions);
  assert.deepEqual(
    [...first.systems, ...second.systems],
    Array.from({ length: 4 }, () => "Called 1 times."),
  );
  assert.equal(calls, 1);
});

test("other instructions or other tools make a new head, with the reason", async () => {
  const data = new MemoryData();
  const { note } = noting();
  await say1(data, "Be brief.");
  const changed = await say1(data, "Be long.", { note });
  assert.deepEqual(changed, {
    systems: ["Be long.", "Be long."],
    tools: [
      ["note", "ask_user", "write_todos", "task"],
      ["note", "ask_user", "write_todos", "task"],
    ],
    reasons: ["instructions or tools changed"],
  });
});
