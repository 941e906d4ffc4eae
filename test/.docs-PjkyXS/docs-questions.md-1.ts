import assert from "node:assert/strict";
import { Agent, defineTool, Harness, isSuspendedBy } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";

// A tool of your own that waits for an answer, and says what an answer has to look like.
const Seat = z.object({ row: z.int().min(1), letter: z.enum(["A", "B", "C"]) });
const reserve = defineTool({
  description: "Lets the user pick a seat and reserves it",
  category: "control",
  input: z.object({ train: z.string() }),
  resume: Seat,
  execute({ train }, { suspend, resumed }) {
    if (!resumed) return suspend({ train, rows: 20 });
    const { row, letter } = resumed.data; // as the schema says
    return `Reserved ${row}${letter} on ${train}.`;
  },
});

const todo = (content: string, activeForm: string, status: string) => ({ content, activeForm, status });
const [reserving, paying] = [todo("Reserve", "Reserving", "in_progress"), todo("Pay", "Paying", "pending")];
const model = script(
  call("write_todos", { todos: [reserving, paying] }),
  call("ask_user", {
    question: "Which train?",
    options: [{ label: "9:04" }, { label: "10:04", description: "slower" }],
  }),
  call("reserve", { train: "9:04" }),
  call("write_todos", { todos: [{ ...reserving, status: "completed" }, paying] }),
  say("Reserved. Now pay, please."),
);
const harness = new Harness({ id: "questions", agent: new Agent({ name: "clerk", model, tools: { reserve } }) });
await harness.init();

harness.subscribe(async (event) => {
  if (event.type !== "tool_suspended") return;
  const { toolCallId } = event;
  if (isSuspendedBy(event, "ask_user")) {
    const { question, options } = event.suspendPayload; // has the type of what ask_user asks
    assert.deepEqual([question, options?.length], ["Which train?", 2]);
    await harness.respondToToolSuspension({ toolCallId, resumeData: options![0]!.label, by: "ada" });
  } else {
    const wrong = harness.respondToToolSuspension({ toolCallId, resumeData: { row: 0, letter: "A" } });
    await assert.rejects(wrong, { code: "INVALID_INPUT" }); // refused, and the call keeps waiting
    await harness.respondToToolSuspension({ toolCallId, resumeData: { row: 4, letter: "A" } });
  }
});
await harness.sendMessage({ content: "Get me to the sea." });

const { tasks, previousTasks, messages } = harness.getDisplayState();
assert.deepEqual(tasks[0], { id: "1", content: "Reserve", status: "completed", activeForm: "Reserving" });
assert.equal(previousTasks[0]?.status, "in_progress");
const results = messages.flatMap(({ outcomes }) => Object.values(outcomes).map(({ result }) => result.content));
assert.deepEqual([results[1], results[2]], ["9:04", "Reserved 4A on 9:04."]);
await harness.close();
