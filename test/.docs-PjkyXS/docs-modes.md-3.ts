import assert from "node:assert/strict";
import { Agent, Harness } from "@cinch/core";
import { say, script } from "@cinch/testkit";

const model = script(say("One."), say("Two."));
const settings = { temperature: 0.2, providerOptions: { scripted: { effort: "low", cache: true } } };
const agent = new Agent({ name: "writer", model, settings });
const harness = new Harness({
  id: "settings",
  modes: [
    { id: "careful", agent },
    { id: "bold", agent, settings: { temperature: 1, providerOptions: { scripted: { effort: "high" } } } },
  ],
});
await harness.sendMessage({ content: "Write." });
await harness.switchMode({ modeId: "bold" });
await harness.sendMessage({ content: "Again." });
assert.deepEqual(
  model.requests.map(({ temperature, providerOptions }) => [temperature, providerOptions?.scripted]),
  [
    [0.2, { effort: "low", cache: true }],
    [1, { effort: "high", cache: true }],
  ],
);
await harness.close();
