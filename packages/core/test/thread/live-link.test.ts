import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, memoryStore, type HarnessEvent } from "@cinch/core";
import { call, fail, inTurn, say, script, type Step } from "@cinch/testkit";
import { harness, onlyHere } from "../support.ts";
import { idle, liveText, pair, seenOf } from "./live-pair.ts";
import { settled, until } from "./reconnect-talk.ts";

const two = onlyHere("the second harness is in this process");
const LONG = Array.from({ length: 300 }, (_, at) => `word${at} `).join("");
const durable = (events: readonly HarnessEvent[]) => events.flatMap((event) => ("v" in event ? [event.seq] : []));
const streaming = (delayMs = 5): Step => say(LONG, { size: 10, delayMs });

test("a subscriber elsewhere sees every event that one beside the driver sees, in the same order", two, async () => {
  const flaky = inTurn(fail(Object.assign(new Error("busy"), { statusCode: 529 })), call("dig", { depth: 5 }));
  await using both = await pair([flaky, say("A hole, and nothing in it.", { size: 2, delayMs: 1 }), say("Again.")]);
  const { driver, watcher } = both;
  await driver.sendMessage({ content: "Dig." });
  await driver.sendMessage({ content: "And?" });
  await idle(watcher, driver.getDisplayState().seq);
  assert.deepEqual(seenOf(watcher.seen), seenOf(driver.seen));
  assert.deepEqual(watcher.getDisplayState(), driver.getDisplayState());
  const types = new Set(watcher.seen.map(({ type }) => type));
  for (const type of [
    "step_start",
    "retry_scheduled",
    "message_update",
    "tool_input_delta",
    "tool_update",
    "shell_output",
  ])
    assert.ok(types.has(type as HarnessEvent["type"]), type);
});

test("while the link works, a watcher asks the store nothing", two, async () => {
  await using both = await pair([streaming(10)]);
  const { driver, watcher, stores } = both;
  const turn = driver.sendMessage({ content: "Go." });
  await until(() => liveText(watcher.seen).length > 100);
  stores.watcher.asked = [];
  await turn;
  await idle(watcher, driver.getDisplayState().seq);
  assert.deepEqual(stores.watcher.asked, []);
  assert.deepEqual(seenOf(watcher.seen), seenOf(driver.seen));
});

test("a watcher that enters during an answer gets the text so far, and then every delta", two, async () => {
  await using both = await pair([streaming()]);
  const { driver, stores, exchange, id } = both;
  const turn = driver.sendMessage({ content: "Go." });
  await until(() => liveText(driver.seen).length > 500);
  await using late = await harness({
    model: script(),
    storage: memoryStore(stores.data),
    live: exchange.live("late:1"),
  });
  await late.switchThread({ threadId: id });
  await turn;
  await idle(late, driver.getDisplayState().seq);
  const entered = late.seen.findLast((event) => event.type === "resync");
  const shown = entered?.displayState.currentMessage?.content[0];
  assert.equal((shown && "text" in shown ? shown.text : "") + liveText(late.seen), LONG);
  assert.deepEqual(late.getDisplayState(), driver.getDisplayState());
});

test(
  "without a line, drafts show the answer; when the line is back, it goes on from there: no text twice, none lost",
  two,
  async () => {
    await using both = await pair([streaming(10)]);
    const { driver, watcher, exchange } = both;
    const turn = driver.sendMessage({ content: "Go." });
    await until(() => liveText(watcher.seen).length > 200);
    exchange.cut();
    const before = liveText(watcher.seen).length;
    await until(() => liveText(watcher.seen).length > before);
    assert.ok(LONG.startsWith(liveText(watcher.seen)), "after the change to drafts");
    exchange.mend();
    await turn;
    await idle(watcher, driver.getDisplayState().seq);
    assert.equal(liveText(watcher.seen), LONG);
    assert.equal(watcher.seen.filter(({ type }) => type === "message_start").length, 1);
    assert.deepEqual(durable(watcher.seen), durable(driver.seen));
    assert.deepEqual(watcher.getDisplayState(), driver.getDisplayState());
  },
);

test("a line that is never there leaves the watcher with drafts", two, async () => {
  await using both = await pair([streaming(10)]);
  const { driver, watcher, exchange } = both;
  exchange.cut();
  const turn = driver.sendMessage({ content: "Go." });
  await until(() => liveText(watcher.seen).length > 0);
  await turn;
  await idle(watcher, driver.getDisplayState().seq);
  assert.ok(LONG.startsWith(liveText(watcher.seen)));
  assert.deepEqual(durable(watcher.seen), durable(driver.seen));
  assert.deepEqual(watcher.getDisplayState(), driver.getDisplayState());
});

test("a driver from which nothing comes any more is read from the store", two, async () => {
  await using both = await pair([streaming(25)]);
  const { driver, watcher, exchange } = both;
  const turn = driver.sendMessage({ content: "Go." });
  await until(() => liveText(watcher.seen).length > 200);
  const release = exchange.hold();
  const before = liveText(watcher.seen).length;
  await until(() => liveText(watcher.seen).length > before || watcher.getDisplayState().status === "idle");
  assert.equal(watcher.getDisplayState().status, "running", "drafts show the answer before its end");
  await turn;
  await idle(watcher, driver.getDisplayState().seq);
  assert.ok(LONG.startsWith(liveText(watcher.seen)));
  assert.deepEqual(durable(watcher.seen), durable(driver.seen));
  release();
  await settled();
  assert.deepEqual(watcher.getDisplayState(), driver.getDisplayState());
  await driver.sendMessage({ content: "And now?" });
  await idle(watcher, driver.getDisplayState().seq);
  assert.deepEqual(durable(watcher.seen), durable(driver.seen));
  assert.deepEqual(watcher.getDisplayState(), driver.getDisplayState());
});

test("a reader that lags gets what is shown, and ends with the same display", two, async () => {
  await using both = await pair([call("dig", { depth: 40 }), streaming(1)], {
    faults: { capacity: 3, delayMs: () => 60 },
  });
  const { driver, watcher } = both;
  const turn = driver.sendMessage({ content: "Go." });
  await turn;
  await idle(watcher, driver.getDisplayState().seq);
  assert.ok(LONG.startsWith(liveText(watcher.seen)));
  assert.deepEqual(durable(watcher.seen), durable(driver.seen));
  assert.deepEqual(watcher.getDisplayState(), driver.getDisplayState());
});

test("commands of a watcher reach the driver in the midst of an answer, and no event comes twice", two, async () => {
  await using both = await pair([streaming(2), say("Steered."), say("Followed.")]);
  const { driver, watcher } = both;
  const turn = driver.sendMessage({ content: "Go." });
  await until(() => liveText(watcher.seen).length > 200);
  await watcher.steer({ content: "Look left." });
  await watcher.renameThread({ title: "Named in passing" });
  await turn;
  await idle(watcher, driver.getDisplayState().seq);
  assert.deepEqual(durable(watcher.seen), durable(driver.seen));
  assert.equal(liveText(watcher.seen), `${LONG}Steered.`);
  assert.deepEqual(watcher.getDisplayState(), driver.getDisplayState());
});

test(
  "a driver that is killed in mid-message is succeeded: what it had shown is discarded or recorded, for all watchers alike",
  two,
  async () => {
    await using both = await pair([streaming(5), say("unused")]);
    const { driver, watcher, exchange, stores, id } = both;
    const third = memoryStore(stores.data);
    await using other = await harness({
      model: script(say("x"), say("y")),
      storage: third,
      live: exchange.live("other:1"),
    });
    await other.switchThread({ threadId: id });
    driver.sendMessage({ content: "Go." }).catch(() => undefined);
    await until(() => liveText(watcher.seen).length > 200 && liveText(other.seen).length > 200);
    stores.driver.die();
    exchange.kill("driver:1");
    const isOver = () => [watcher, other].every((one) => one.seen.some(({ type }) => type === "agent_end"));
    await until(isOver);
    await settled();
    assert.deepEqual(durable(watcher.seen), durable(other.seen).slice(-durable(watcher.seen).length));
    assert.deepEqual(watcher.getDisplayState(), other.getDisplayState());
    assert.equal(watcher.getDisplayState().currentMessage, null);
  },
);

test("subagents that another process drives are shown with every delta", two, async () => {
  const explorer = new Agent({ name: "explorer", description: "Looks around", model: script(streaming(1)) });
  const steps = [call("task", { agent: "explorer", prompt: "Look." }), say("Seen.")];
  await using both = await pair(steps, { subagents: [explorer] });
  const { driver, watcher } = both;
  await driver.sendMessage({ content: "Go." });
  await idle(watcher, driver.getDisplayState().seq);
  const told = (events: readonly HarnessEvent[]) =>
    events.flatMap((event) => (event.type === "subagent_text_delta" ? [event.delta] : [])).join("");
  assert.equal(told(watcher.seen), told(driver.seen));
  assert.equal(told(watcher.seen), LONG);
  assert.deepEqual(watcher.getDisplayState(), driver.getDisplayState());
});
