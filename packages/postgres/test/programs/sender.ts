import process from "node:process";
import { Agent, defineTool, Harness } from "@cinch/core";
import { postgresStore, type PostgresOptions } from "@cinch/postgres";
import { call, say, scriptedBy } from "@cinch/testkit";
import * as z from "zod";

/** Sends one message to thread "t": `sender OPTIONS INPUT_ID TOOL_MS`. Its turn runs one tool. Sends its parent what happens. */
const [options = "", id = "", toolMs = "0"] = process.argv.slice(2);
const report = (value: object) => process.send!(value);

const once = defineTool({
  description: "Has an effect",
  effect: "once",
  input: z.object({ order: z.string() }),
  async execute({ order }) {
    report({ ran: order });
    await new Promise((resolve) => setTimeout(resolve, Number(toolMs)));
    return `${order} done`;
  },
});

/** Answers each user message with a call of the tool, then with a text. */
const model = scriptedBy(({ prompt }) => {
  const at = prompt.findLastIndex((message) => message.role === "user");
  const asked = prompt[at]?.role === "user" ? prompt[at].content : [];
  const order = asked.flatMap((part) => (part.type === "text" ? [part.text] : [])).at(-1);
  const acted = prompt.slice(at).some((message) => message.role === "assistant");
  return acted ? say(`${order} said`) : call("once", { order });
});

const h = new Harness({
  permissions: [{ category: "other", policy: "allow" }],
  id: "seat",
  storage: postgresStore(JSON.parse(options) as PostgresOptions),
  agent: new Agent({ name: "seat", model, tools: { once } }),
});
await h.init();
await h.switchThread({ threadId: "t" });
h.subscribe((event) => {
  if (event.type === "agent_start" && event.takeover) report({ tookOver: event.turnId });
});
report({ ready: id });
const { reason, message } = await h.sendMessage({ content: id, id });
report({ reason, said: message?.content });
await h.close();
process.disconnect();
