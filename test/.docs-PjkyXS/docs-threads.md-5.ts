import assert from "node:assert/strict";
import { Agent, Harness, textOf } from "@cinch/core";
import { say, script } from "@cinch/testkit";

const mail = ["The train is late."];
const harness = new Harness({
  id: "heartbeats",
  agent: new Agent({ name: "clerk", model: script(say("Then I take the next one.")) }),
  heartbeats: [
    {
      id: "mail",
      intervalMs: 20,
      async handler({ signal }) {
        const letter = mail.shift();
        if (letter && !signal.aborted) await harness.followUp({ content: letter });
      },
    },
  ],
});
const ends = new Promise((resolve) => {
  harness.subscribe((event) => event.type === "agent_end" && resolve(event));
});
await harness.init(); // starts the heartbeat
await ends;
assert.equal(textOf(harness.getDisplayState().messages.at(-1)!.content), "Then I take the next one.");
await harness.close(); // stops it
