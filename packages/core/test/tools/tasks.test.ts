import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryData } from "@cinch/core/store";
import { memoryStore, type HarnessEvent } from "@cinch/core";
import { call, say, script, scriptedBy } from "@cinch/testkit";
import { harness, noting } from "../support.ts";

const todo = (content: string, status = "pending", more: object = {}) => ({ content, status, ...more });
const resultOf = (events: readonly HarnessEvent[]) =>
  events.flatMap((event) => (event.type === "tool_end" ? [[event.result.content, event.isError]] : [])).at(-1);

test("a new list replaces the old one; items keep their ids; the display has the previous list", async () => {
  const model = script(
    call("write_todos", { todos: [todo("Read", "in_progress", { activeForm: "Reading" }), todo("Write")] }),
    call("write_todos", { todos: [todo("Test"), todo("Write", "in_progress"), todo("Read", "completed")] }),
    call("write_todos", { todos: [todo("Write it all", "in_progress", { id: "2" }), todo("Ship")] }),
    say("on it"),
  );
  await using h = await harness({ model });
  await h.sendMessage({ content: "Go" });
  const lists = h.seen.flatMap((event) =>
    event.type === "task_updated" ? [event.tasks.map(({ id, content }) => `${id} ${content}`)] : [],
  );
  assert.deepEqual(lists, [
    ["1 Read", "2 Write"],
    ["3 Test", "2 Write", "1 Read"],
    ["2 Write it all", "4 Ship"],
  ]);
  const { tasks, previousTasks } = h.getDisplayState();
  assert.deepEqual(tasks[0], { id: "2", content: "Write it all", status: "in_progress", activeForm: "Write it all" });
  assert.deepEqual(
    previousTasks.map(({ content }) => content),
    ["Test", "Write", "Read"],
  );
});

test("a list with two items in progress, and a value that is no list, are refused, and the list stays", async () => {
  const model = script(
    call("write_todos", { todos: [todo("Read", "in_progress")] }),
    call("write_todos", { todos: [todo("A", "in_progress"), todo("B", "in_progress")] }),
    call("write_todos", { todos: [todo("", "pending")] }),
    call("write_todos", { todos: [todo("A", "later")] }),
    say("well"),
  );
  await using h = await harness({ model });
  await h.sendMessage({ content: "Go" });
  const errors = h.seen.flatMap((event) => (event.type === "tool_end" ? [event.isError] : []));
  assert.deepEqual(errors, [false, true, true, true]);
  assert.match(String(resultOf(h.seen)?.[0]), /todos.0.status: .*"pending"/);
  assert.deepEqual(
    h.getDisplayState().tasks.map(({ content }) => content),
    ["Read"],
  );
});

test("items with the same id or the same content get different ids", async () => {
  const model = script(
    call("write_todos", {
      todos: [todo("Same", "pending", { id: "x" }), todo("Same", "pending", { id: "x" }), todo("Same")],
    }),
    call("write_todos", { todos: [todo("Same"), todo("Same"), todo("Same")] }),
    say("well"),
  );
  await using h = await harness({ model });
  await h.sendMessage({ content: "Go" });
  const ids = h.getDisplayState().tasks.map(({ id }) => id);
  assert.equal(new Set(ids).size, 3);
  assert.deepEqual(
    ids,
    h.getDisplayState().previousTasks.map(({ id }) => id),
  );
});

test("the list survives a restart and is inherited by a clone; a rewind reverts it", async () => {
  const data = new MemoryData();
  const model = script(
    call("write_todos", { todos: [todo("One")] }),
    say("ok"),
    call("write_todos", { todos: [todo("One", "completed"), todo("Two")] }),
    say("ok"),
  );
  const first = await harness({ model, storage: memoryStore(data) });
  await first.sendMessage({ content: "Go" });
  const { seq } = first.getDisplayState();
  await first.sendMessage({ content: "Go on" });
  await first.close();
  await using h = await harness({ model, storage: memoryStore(data) });
  await h.selectOrCreateThread();
  const contents = () => h.getDisplayState().tasks.map(({ content }) => content);
  assert.deepEqual(contents(), ["One", "Two"]);
  await h.rewind({ toSeq: seq });
  assert.deepEqual(contents(), ["One"]);
  await h.cloneThread();
  assert.deepEqual(contents(), ["One"]);
});

test("notes at the end of the prompt remind the model of open tasks: in a new turn, and after some steps", async () => {
  const { note } = noting();
  let answers = 0;
  const model = scriptedBy(() => {
    if (++answers === 1) return call("write_todos", { todos: [todo("One", "completed"), todo("Two")] });
    if (answers === 2) return say("later");
    return answers < 16 ? call("note", { what: String(answers) }) : say("done");
  });
  await using h = await harness({ model, tools: { note } });
  await h.sendMessage({ content: "Go" });
  await h.sendMessage({ content: "Go on" });
  const prompts = model.requests.map(({ prompt }) => JSON.stringify(prompt));
  const reminders = prompts.map((prompt) => prompt.split("Still open on your task list").length - 1);
  assert.deepEqual(reminders, [0, 0, ...Array<number>(10).fill(1), 2, 2, 2, 2]);
  assert.match(prompts[2]!, /- \[pending\] Two/);
  assert.doesNotMatch(prompts[2]!, /- \[completed\]/);
  for (const [at, prompt] of prompts.entries()) {
    // All but the last message, which may have grown.
    const before = JSON.stringify(model.requests[at - 1]?.prompt.slice(0, -1) ?? []).slice(0, -1);
    assert.ok(prompt.startsWith(before), `request ${at}`);
  }
});
