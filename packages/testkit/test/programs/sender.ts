import { appendFileSync, existsSync } from "node:fs";
import process from "node:process";
import { Agent, defineTool, Harness } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { call, say, scriptedBy } from "@cinch/testkit";
import * as z from "zod";

/**
 * Sends one message to the only thread of a store: `sender FOLDER NAME INPUT_ID PERIOD_MS [GATE]`. The turn runs one tool with an effect,
 * which lasts until the folder has a file GATE. The process waits for the end of the turn, and prints what it receives as JSON lines.
 */
const [folder = "", name = "", id = "", periodMs = "", gate] = process.argv.slice(2);
const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);

const once = defineTool({
  description: "Has an effect",
  effect: "once",
  input: z.object({ order: z.string() }),
  async execute({ order }) {
    appendFileSync(`${folder}/ledger`, `${order}\n`);
    print({ ran: order });
    const isOpen = () => gate === undefined || existsSync(`${folder}/${gate}`);
    while (!isOpen()) await new Promise((resolve) => setTimeout(resolve, 10));
    return `${order} done`;
  },
});

/** Answers each user message with a call of the tool, then with a text. */
const model = scriptedBy(({ prompt }) => {
  const at = prompt.findLastIndex((message) => message.role === "user");
  const order =
    prompt[at]?.role === "user"
      ? prompt[at].content.flatMap((part) => (part.type === "text" ? [part.text] : [])).at(-1)
      : "";
  const acted = prompt.slice(at).some((message) => message.role === "assistant");
  return acted ? say(`${order} said`) : call("once", { order });
});

const h = new Harness({
  permissions: [{ category: "other", policy: "allow" }],
  id: "seat",
  storage: sqliteStore({ path: `${folder}/cinch.db`, renewMs: 200, periodMs: Number(periodMs) }),
  agent: new Agent({ name: "seat", model, tools: { once } }),
});
await h.init();
const [thread] = await h.listThreads();
await h.switchThread({ threadId: thread!.id });
h.subscribe((event) => {
  if (event.type === "agent_start" && event.takeover) print({ tookOver: event.turnId });
  if (event.type === "info") print({ info: event.message });
});
print({ ready: name });
const { reason, message } = await h.sendMessage({ content: id, id });
print({ name, reason, said: message?.content });
await h.close();
