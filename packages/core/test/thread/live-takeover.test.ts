import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryStore, type HarnessEvent } from "@cinch/core";
import { call, hang, say, script } from "@cinch/testkit";
import { asking, harness, onlyHere } from "../support.ts";
import { idle, liveText, pair } from "./live-pair.ts";
import { until } from "./reconnect-talk.ts";

const two = onlyHere("the second harness is in this process");
const seqs = (events: readonly HarnessEvent[]) => events.flatMap((event) => ("v" in event ? [event.seq] : []));
const WORDS = Array.from({ length: 100 }, (_, at) => `word${at} `).join("");

test("a watcher follows the next driver when the first one leaves the turn to it", two, async () => {
  await using both = await pair([call("dig", { depth: 60 }), say(WORDS, { size: 5, delayMs: 2 })]);
  const { driver, watcher, exchange, stores, id } = both;
  const next = await harness({
    model: script(call("dig", { depth: 2 }), say(WORDS, { size: 5, delayMs: 2 })),
    storage: memoryStore(stores.data),
    live: exchange.live("next:1"),
  });
  try {
    const turn = driver.sendMessage({ content: "Go." });
    turn.catch(() => undefined);
    await until(() => watcher.seen.some(({ type }) => type === "shell_output"));
    await next.switchThread({ threadId: id });
    await driver.close({ drainMs: 10_000 });
    await until(() => [watcher, next].every((one) => one.seen.some(({ type }) => type === "agent_end")));
    await idle(watcher, next.getDisplayState().seq);
    assert.deepEqual(watcher.getDisplayState(), next.getDisplayState());
    assert.ok(WORDS.startsWith(liveText(watcher.seen)));
  } finally {
    await next.close();
  }
});

test(
  "a driver that was replaced without its knowledge ends what it shows, and the watcher follows the other one",
  two,
  async () => {
    await using both = await pair([hang("From the first driver."), say("unused")]);
    const { driver, watcher, exchange, stores, id } = both;
    const other = await harness({
      model: script(say(WORDS, { size: 5, delayMs: 5 }), say(WORDS, { size: 5, delayMs: 5 })),
      storage: memoryStore(stores.data),
      live: exchange.live("other:1"),
    });
    try {
      driver.sendMessage({ content: "Go." }).catch(() => undefined);
      await until(() => liveText(watcher.seen) !== "");
      // Its lease is free, and it does not know that: as after a pause in which another process has taken it for dead.
      const { epoch } = await stores.driver.lease(id);
      await stores.driver.release(id, epoch);
      await other.switchThread({ threadId: id });
      await other.resume();
      await until(() => [watcher, other].every((one) => one.seen.some(({ type }) => type === "agent_end")));
      await idle(watcher, other.getDisplayState().seq);
      assert.deepEqual(watcher.getDisplayState(), other.getDisplayState());
      const shown = liveText(
        watcher.seen.filter((event) => !("delta" in event) || event.delta !== "From the first driver."),
      );
      assert.equal(shown, WORDS, "every delta of the second driver");
      const begun = watcher.seen.filter(({ type }) => type === "message_start").length;
      const ended = watcher.seen.filter(({ type }) => type === "message_end" || type === "message_discarded").length;
      assert.ok(ended >= begun, "what the first one had begun was discarded");
    } finally {
      await other.close();
    }
  },
);

test("a thread that a third process deletes in mid-answer is gone at the watcher too", two, async () => {
  await using both = await pair([hang("Hm")]);
  const { driver, watcher, stores, id } = both;
  driver.sendMessage({ content: "Go." }).catch(() => undefined);
  await until(() => liveText(watcher.seen) === "Hm");
  const third = memoryStore(stores.data);
  await third.open();
  await third.deleteThread(id);
  await until(() => [driver, watcher].every((one) => one.seen.some(({ type }) => type === "thread_deleted")));
});

test("a rewind at the driver reaches the watcher over the link, with one resync", two, async () => {
  await using both = await pair([say("One."), say("Two.", { delayMs: 5 }), say("Three.", { delayMs: 5 })]);
  const { driver, watcher } = both;
  await driver.sendMessage({ content: "First." });
  const { seq } = driver.getDisplayState();
  await driver.sendMessage({ content: "Second." });
  await idle(watcher, driver.getDisplayState().seq);
  const resyncs = watcher.seen.filter(({ type }) => type === "resync").length;
  await driver.rewind({ toSeq: seq });
  await driver.sendMessage({ content: "Third." });
  await idle(watcher, driver.getDisplayState().seq);
  assert.equal(watcher.seen.filter(({ type }) => type === "resync").length, resyncs + 1);
  assert.deepEqual(watcher.getDisplayState(), driver.getDisplayState());
});

test("a question is answered by the watcher, and it sees what the driver does with the answer", two, async () => {
  await using both = await pair([call("ask", { question: "Which?" }), say(WORDS, { size: 5, delayMs: 1 })], {
    tools: { ask: asking },
  });
  const { driver, watcher } = both;
  const turn = driver.sendMessage({ content: "Go." });
  await until(() => watcher.getDisplayState().status === "waiting");
  await watcher.respondToToolSuspension({ resumeData: "this one" });
  assert.equal((await turn).reason, "complete");
  await idle(watcher, driver.getDisplayState().seq);
  assert.equal(liveText(watcher.seen), WORDS);
  assert.deepEqual(seqs(watcher.seen), seqs(driver.seen));
  assert.deepEqual(watcher.getDisplayState(), driver.getDisplayState());
});
