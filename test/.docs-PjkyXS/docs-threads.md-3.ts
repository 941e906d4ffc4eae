import assert from "node:assert/strict";
import { Agent, Harness } from "@cinch/core";
import { hang, inTurn, say, script } from "@cinch/testkit";

const model = script(inTurn(hang("Well, "), say("Two lists.")), say("Sorted."));
const harness = new Harness({ id: "queue", agent: new Agent({ name: "lister", model }) });
await harness.init();

const infos: string[] = [];
const speaks = new Promise<void>((resolve) => {
  harness.subscribe((event) => {
    if (event.type === "message_update") resolve();
    if (event.type === "info") infos.push(event.message);
  });
});
const turn = harness.sendMessage({ content: "Make a list." });
await speaks;
const { inputId } = await harness.followUp({ content: "Make antoher." });
const sort = await harness.followUp({ content: "Sort them." });
await harness.editInput({ inputId, content: "Make another." });
await harness.removeInput(sort);
assert.deepEqual(
  (await harness.listInbox()).map(({ content }) => content),
  ["Make another."],
);

await harness.abort();
assert.equal((await turn).reason, "aborted");
assert.match(infos[0]!, /^One input stays queued/);

const ends = new Promise<string>((resolve) => {
  harness.subscribe((event) => event.type === "agent_end" && resolve(event.reason));
});
await harness.resume(); // or send something: what was queued comes first
assert.equal(await ends, "complete");
assert.equal(harness.getDisplayState().inbox.length, 0);
await harness.close();
