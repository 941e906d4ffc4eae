import type { LanguageModel } from "@cinch/core";
import { TOUR_REQUEST } from "@cinch/web";
import type { Conversation, ToolOutcome } from "../offline/conversation.ts";
import type { Move, PlannedCall } from "../offline/intent.ts";
import { ruleModel } from "../offline/model.ts";
import type { ModelChoice } from "../models/choice.ts";

const CART = "src/cart.js";
const REVIEWER = "general-purpose";
const REVIEW = `Review ${CART}: is the total right for every cart?`;

const PLAN = `1. Start the loop of \`total\` in \`${CART}\` at the first item, not at the second.
2. Run the tests.
3. Let a second agent review the result.`;

const TASKS = [
  { content: "Count every item", activeForm: "Counting every item" },
  { content: "Make the tests pass", activeForm: "Making the tests pass" },
  { content: "Have it reviewed", activeForm: "Having it reviewed" },
];

/**
 * The model of the tour. It plays one story, by what the tools answered: a plan that is rejected is revised, an edit that the user has
 * made instead is not made again. Harness, tools, files and commands are real.
 */
export const tourModel = ({ delayMs }: { delayMs?: number } = {}): LanguageModel =>
  ruleModel({ modelId: "tour", delayMs, isRequest, next: nextOfTour });

export const tourChoice = (options: { delayMs?: number } = {}): ModelChoice => ({
  id: "tour",
  fallback: false,
  load: async () => tourModel(options),
});

const isRequest = (text: string): boolean => text.includes(TOUR_REQUEST) || text.includes(REVIEW);

export function nextOfTour(conversation: Conversation): Move {
  if (conversation.ask.includes(REVIEW)) return review(conversation);
  if (conversation.ask === "")
    return say("In the tour I know one task only: the total of the cart. Esc leaves the tour.");
  const outcomes = conversation.steps.flat();
  const done = (name: string) => outcomes.filter(({ toolName }) => toolName === name);
  const last = outcomes.at(-1);
  if (last?.isError && last.toolName !== "execute") return say(refused(last));
  if (done("read_file").length === 0)
    return act("I look at the code and at its test first.", read(CART), read("test/cart.test.js"));
  if (!done("submit_plan").some(isApproved)) return submit(done("submit_plan").at(-1));
  if (last?.toolName === "task") return act("", todos(TASKS.length));
  return work(done("edit_file").length, { tests: done("execute").length, reviewed: done("task").length > 0 });
}

/** The part of the story after the plan, by how many edits were made. */
function work(edits: number, { tests, reviewed }: { tests: number; reviewed: boolean }): Move {
  if (edits === 0) return act("The loop starts at 1, so the first item is never counted.", todos(0), firstEdit);
  if (tests < edits) return act("", todos(1), test);
  if (edits === 1)
    return act(
      "One test still fails: `0.1 + 0.2` is `0.30000000000000004` in binary fractions. The sum has to be rounded to cents.",
      secondEdit,
    );
  if (!reviewed)
    return act("The tests pass. A second agent, which has not seen my reasoning, looks at it.", todos(2), task);
  return say(
    `The total is right now. It missed the first item, and it was not exact to the cent; both are fixed in \`${CART}\`, the tests pass, and the review found nothing.`,
  );
}

function submit(rejected: ToolOutcome | undefined): Move {
  const text = rejected ? "I have changed the plan:" : "The loop starts at 1. This is what I would do:";
  const remark = rejected?.text.split("The user says: ")[1];
  const plan = remark ? `${PLAN}\n4. As you said: ${remark}` : PLAN;
  return act(text, { toolName: "submit_plan", input: { title: "Count every item of the cart", plan } });
}

function review({ steps }: Conversation): Move {
  if (steps.length === 0) return act("", read(CART));
  return say(
    `${CART}: the loop visits every item once, the sum is rounded to cents, and an empty cart costs 0. No findings.`,
  );
}

const refused = ({ toolName, text }: ToolOutcome): string =>
  `I stop here, because ${toolName} was not done: ${text}\n\nSend the request again to go on.`;

/** Like any model, this one sees only the text of a result. */
const isApproved = ({ text }: ToolOutcome): boolean => text.startsWith("The plan was approved");

const say = (text: string): Move => ({ kind: "say", text });
const act = (text: string, ...calls: PlannedCall[]): Move => ({
  kind: "call",
  text: text === "" ? "" : `${text}\n`,
  calls,
});
const read = (path: string): PlannedCall => ({ toolName: "read_file", input: { file_path: path } });
const edit = (before: string, after: string): PlannedCall => ({
  toolName: "edit_file",
  input: { file_path: CART, old_string: before, new_string: after },
});
const firstEdit = edit("let i = 1;", "let i = 0;");
const secondEdit = edit("return sum;", "return Math.round(sum * 100) / 100;");
const test: PlannedCall = { toolName: "execute", input: { command: "npm test" } };
const task: PlannedCall = { toolName: "task", input: { agent: REVIEWER, prompt: REVIEW } };

function todos(current: number): PlannedCall {
  const list = TASKS.map((one, at) => {
    if (at === current) return { ...one, status: "in_progress" };
    return { ...one, status: at < current ? "completed" : "pending" };
  });
  return { toolName: "write_todos", input: { todos: list } };
}
