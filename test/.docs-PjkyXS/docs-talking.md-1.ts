import { Agent, Harness } from "@cinch/core";
import { say, script } from "@cinch/testkit";

const model = script(say("Hello!"), say("With SQLite, then."), say("Tests written."));
const harness = new Harness({ id: "talk", agent: new Agent({ name: "talker", model }) });
await harness.init();

// Every event, as one stream that stays open until off() or close().
const off = harness.subscribe((event) => {
  if (event.type === "message_end") console.log(event.message.role, event.message.content);
});

const { reason, message } = await harness.sendMessage({ content: "Hi" }); // settles when its turn has ended
await harness.followUp({ content: "Then write the tests." }); // a turn of its own, after the running one
await harness.steer({ content: "Use SQLite." }); // into the running turn, after the tool calls of its step
await harness.abort(); // ends the turn; what is queued waits for the next input, or for resume()
await harness.resume();
off();
await harness.close();
