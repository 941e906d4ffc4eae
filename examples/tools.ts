/** Tools: schemas, progress, results for the model and for the UI, failures, effects, state, and a tool that asks a person. */
import { Agent, defineTool, Harness, textOf, type ToolContext } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";

// `content` is what the model reads. `details` is for the UI and costs no tokens.
const findOrders = defineTool({
  description: "Finds the orders of a customer",
  category: "read",
  input: z.object({ customer: z.string() }),
  execute({ customer }) {
    const rows = [{ order: 17, customer, total: 40 }];
    return { content: rows.map(({ order, total }) => `order ${order}: ${total} euros`).join("\n"), details: { rows } };
  },
});

// The state of a thread, beside its messages: for programs, UIs and tools.
const stateSchema = z.object({ refunded: z.array(z.int()).default([]) });

// Has an effect, so its category needs approval. `idempotent`: after a crash it runs again with the same `key`, by which
// the bank recognises a repetition. With `once`, the default, it would be reported to the model as unknown.
const refunds = new Map<string, number>();
const refund = defineTool({
  description: "Refunds an order",
  category: "execute",
  effect: "idempotent",
  timeoutMs: 10_000,
  input: z.object({ order: z.int(), amount: z.number().positive() }),
  async execute({ order, amount }, { key, emit, signal, state, setState }: ToolContext<z.infer<typeof stateSchema>>) {
    emit("calling the bank"); // subscribers see it as tool_update
    signal.throwIfAborted(); // aborted with the turn, at the timeout, and when the harness closes
    refunds.set(key, amount);
    setState({ refunded: [...state.refunded, order] }); // written together with the result
    return `Refunded ${amount} euros for order ${order}.`;
  },
});

// A plain JSON Schema works, too. `suspend` suspends the call durably; the answer may come in another process.
const pickCarrier = defineTool({
  description: "Lets the person pick a carrier",
  category: "control",
  effect: "pure",
  input: { type: "object", properties: {}, additionalProperties: false },
  execute(_, { suspend, resumed }) {
    return resumed ? `The person picked ${String(resumed.data)}.` : suspend({ choose: ["bike", "train"] });
  },
});

const model = script(
  call(["find_orders", { customer: "Ada" }, "a"], ["refund", { order: "17", amount: 40 }, "b"]), // "17" is not a number
  call("refund", { order: 17, amount: 40 }),
  call("pick_carrier"),
  say("Refunded, and the parcel comes back by train."),
);
const harness = new Harness({
  id: "tools",
  agent: new Agent({
    name: "support",
    model,
    tools: { find_orders: findOrders, refund, pick_carrier: pickCarrier },
  }),
  stateSchema,
  permissions: [{ toolName: "refund", policy: "allow" }],
});
await harness.init();

harness.subscribe((event) => {
  switch (event.type) {
    case "tool_update":
      console.log(`  ${event.toolName} … ${String(event.partialResult)}`);
      break;
    case "tool_end": {
      const [firstLine] = textOf(event.result.content).split("\n");
      console.log(`${event.isError ? "✗" : "✓"} ${event.toolName}: ${firstLine}`);
      if (event.result.details !== undefined) console.log(`  for the UI: ${JSON.stringify(event.result.details)}`);
      break;
    }
    case "tool_suspended":
      console.log(`? ${event.toolName} asks: ${JSON.stringify(event.suspendPayload)}`);
      harness.respondToToolSuspension({ toolCallId: event.toolCallId, resumeData: "train" }).catch(console.error);
  }
});
const { message } = await harness.sendMessage({ content: "Ada wants her money back." });
console.log(textOf(message?.content ?? []));
console.log(`refunds: ${[...refunds.values()].join()}, for the orders ${harness.getState().refunded.join()}`);
await harness.close();
