import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryStore, systemClock } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { hang, say, script } from "@cinch/testkit";
import { eventually } from "../workers/team.ts";
import { harness } from "../support.ts";

/** A store that counts the questions for leases. */
class AskedStore extends MemoryStore {
  asked = 0;

  override lease(threadId: string) {
    this.asked++;
    return super.lease(threadId);
  }
}

const THREADS = 20;

test("seats at many threads that another process drives ask for one lease a second, and none is forgotten", async () => {
  const data = new MemoryData();
  // A second of the watching process takes 20 ms.
  const clock = { ...systemClock, after: (ms: number, run: () => void) => systemClock.after(ms / 50, run) };
  const driving = memoryStore(data);
  const driver = await harness({ model: script(hang("…")), storage: driving });
  const sessions = await Promise.all(Array.from({ length: THREADS }, () => driver.createSession()));
  const threads = await Promise.all(sessions.map(async (session) => (await session.createThread()).id));
  await Promise.all(sessions.map((session) => session.followUp({ content: "go" })));
  // A draft is a change that followers look at, so all of them have to be there first.
  const drafts = () => Promise.all(threads.map((threadId) => driving.draft(threadId)));
  await eventually(async () => (await drafts()).every((pieces) => pieces.length > 0));
  const store = new AskedStore(data);
  await using watching = await harness({ model: script(say("done")), storage: store, clock });
  await Promise.all(threads.map((threadId) => watching.createSession({ threadId })));
  await new Promise((resolve) => setTimeout(resolve, 200));
  store.asked = 0;
  const began = Date.now();
  await new Promise((resolve) => setTimeout(resolve, 400));
  const seconds = (Date.now() - began) / 20;
  assert.ok(store.asked <= seconds + 5, `${store.asked} questions in ${seconds} s`);
  // Also if the store did not call back: each thread is checked in its turn.
  data.followers.clear();
  driving.die();
  await eventually(async () => (await store.threads({ active: true })).length === 0);
});
