import assert from "node:assert/strict";
import { test } from "node:test";
import { reduceActivity } from "../../src/app/activity.ts";
import { activityLines } from "../../src/views/activity.ts";
import { plainText } from "../text/shown.ts";
import { call, say, Story, type Moment } from "./story.ts";

test("while the model is asked, the activity says since when; a retry, until when", () => {
  const story = new Story()
    .begin()
    .wait(1_000)
    .live({ type: "message_start", turnId: "turn", messageId: "m", role: "assistant" });
  assert.equal(story.now.activity.asked, 1_000);
  story.live({ type: "message_discarded", turnId: "turn", messageId: "m", role: "assistant", reason: "overloaded" });
  story.live({ type: "retry_scheduled", turnId: "turn", attempt: 1, delayMs: 2_000, message: "overloaded" });
  const { asked, retry } = story.now.activity;
  assert.deepEqual({ asked, retry }, { asked: null, retry: { attempt: 1, due: 3_000, message: "overloaded" } });
  story.wait(2_000).live({ type: "message_start", turnId: "turn", messageId: "n", role: "assistant" });
  assert.deepEqual([story.now.activity.asked, story.now.activity.retry], [3_000, null]);
});

test("while the store takes nothing, that is what the turn waits for, until something is written", () => {
  const story = new Story()
    .begin()
    .live({ type: "message_start", turnId: "turn", messageId: "m", role: "assistant" })
    .wait(1_000)
    .live({ type: "info", message: "Waiting for the store: No disk space is left.", waitsFor: "store" });
  const shown = ({ display, activity }: Moment) =>
    activityLines(display, activity, { width: 80, now: 3_000, unicode: true }).map(plainText);
  assert.match(shown(story.now)[0]!, /waits for the store · 2 s · Esc stops$/);
  story.note("written");
  assert.match(shown(story.now)[0]!, /waits for anthropic · 3 s/);
});

test("a call runs since it was started, until it ends", () => {
  const one = call("a", "execute", { command: "npm test" });
  const story = new Story()
    .begin()
    .answer([say("I test."), one])
    .wait(500)
    .start(one);
  assert.deepEqual(story.now.activity.started, { a: 500 });
  assert.deepEqual(story.finish(one).now.activity.started, {});
});

test("a text delta changes nothing, so that it costs nothing", () => {
  const { activity } = new Story()
    .begin()
    .live({ type: "message_start", turnId: "turn", messageId: "m", role: "assistant" }).now;
  const delta = {
    type: "message_update",
    threadId: "t1",
    at: 5,
    messageId: "m",
    role: "assistant",
    index: 0,
    part: "text",
    delta: "x",
  };
  assert.equal(reduceActivity(activity, delta as Parameters<typeof reduceActivity>[1]), activity);
});

test("how a turn ended is known until the next begins", () => {
  const story = new Story().begin().durable({ type: "agent_end", turnId: "turn", reason: "budget", detail: "cost" });
  assert.deepEqual(story.now.activity.end, { reason: "budget", detail: "cost" });
  assert.equal(story.begin().now.activity.end, null);
});
