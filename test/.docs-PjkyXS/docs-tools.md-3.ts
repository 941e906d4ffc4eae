import assert from "node:assert/strict";
import { Agent, defineTool, Harness, type ToolContext } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";

const stateSchema = z.object({ visited: z.array(z.string()).default([]) });
const visit = defineTool({
  description: "Visits a city",
  category: "read",
  input: z.object({ city: z.string() }),
  execute({ city }, { state, setState }: ToolContext<z.infer<typeof stateSchema>>) {
    setState({ visited: [...state.visited, city] });
    return { id: 7, city, content: "A fountain" }; // has other keys than a result, so the model gets all of it
  },
});
const model = script(call("visit", { city: "Rome" }), say("Lovely."));
const agent = new Agent({ name: "guide", model, tools: { visit } });
const harness = new Harness({ id: "state-in-tools", agent, stateSchema });
await harness.init();
await harness.sendMessage({ content: "Show me Rome." });
assert.deepEqual(harness.getState().visited, ["Rome"]);
const [shown] = Object.values(harness.getDisplayState().messages[1]!.outcomes);
assert.equal(shown!.result.content, '{"id":7,"city":"Rome","content":"A fountain"}');
await harness.close();
