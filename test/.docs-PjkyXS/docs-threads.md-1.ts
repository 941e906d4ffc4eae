import assert from "node:assert/strict";
import { Agent, Harness } from "@cinch/core";
import { say, script } from "@cinch/testkit";

const model = script(say("Lisbon."), say("By train."));
const harness = new Harness({ id: "threads", agent: new Agent({ name: "guide", model }) });
await harness.init();

const trip = await harness.createThread(); // becomes the current one
await harness.sendMessage({ content: "Where to in May?" });
assert.equal(harness.getDisplayState().title, "Where to in May?"); // named after its first message
const { seq } = harness.getDisplayState();
await harness.sendMessage({ content: "And how?" });

const other = await harness.cloneThread({ atSeq: seq, title: "Another way" }); // as it was then; now the current one
assert.deepEqual([other.parentId, harness.getDisplayState().messages.length], [trip.id, 2]);

await harness.switchThread({ threadId: trip.id });
assert.deepEqual(await harness.rewind({ toSeq: seq, dryRun: true }), {
  toSeq: seq,
  messages: 2,
  files: [],
  untracked: [],
});
await harness.rewind({ toSeq: seq }); // reverts "And how?" and its answer
await harness.renameThread({ title: "May" });

const found = await harness.listThreads({ query: "lisbon" }); // newest first; in titles and contents
assert.deepEqual(
  found.map(({ title }) => title),
  ["May", "Another way"],
);
await harness.deleteThread({ threadId: trip.id }); // the clone stays
assert.equal((await harness.listThreads()).length, 1);
await harness.close();
