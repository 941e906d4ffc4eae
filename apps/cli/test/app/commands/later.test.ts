import assert from "node:assert/strict";
import { test } from "node:test";
import { say } from "@cinch/testkit";
import { timeAfter } from "../../../src/app/commands/later.ts";
import { formatTime } from "../../../src/views/format.ts";
import { queueLines } from "../../../src/views/queue.ts";
import { plainText } from "../../text/shown.ts";
import { commandStage } from "./command-stage.ts";

/** On the clock of this machine, whatever its zone. */
const on = (day: number, hours: number, minutes: number, seconds = 0) =>
  new Date(2027, 2, day, hours, minutes, seconds).getTime();
const NOW = on(10, 17, 30, 20);

test("/later sends a message after a while", async () => {
  await using stage = await commandStage([say("Looked.")]);
  const [said] = await stage.run("/later 1s look again");
  assert.match(said!, /^Scheduled for \d\d:\d\d, while cinch has this thread open\. Alt-Up changes or removes it\.$/);
  assert.equal(stage.session.getDisplayState().status, "idle");
  await stage.until(({ messages, status }) => messages.at(-1)?.role === "assistant" && status === "idle");
  assert.equal(stage.session.getDisplayState().messages.find(({ role }) => role === "user")?.content.length, 1);
});

test("/later says what it takes, and keeps what it can't read", async () => {
  await using stage = await commandStage([]);
  const usage = "Write /later 18:05 TEXT, or /later 20m TEXT (also 90s, 2h, 1h30m, 3d).";
  assert.deepEqual(await stage.run("/later"), [usage]);
  assert.deepEqual(await stage.run("/later 20m"), [usage]);
  assert.deepEqual(await stage.run("/later soon look"), [`"soon" is no time. ${usage}`]);
  assert.deepEqual(stage.session.getDisplayState().inbox, []);
});

for (const [text, at] of [
  ["18:05", on(10, 18, 5)],
  ["9:30", on(11, 9, 30)],
  ["17:30", on(11, 17, 30)],
  ["00:00", on(11, 0, 0)],
  ["20m", NOW + 20 * 60_000],
  ["90s", NOW + 90_000],
  ["1h30m", NOW + 90 * 60_000],
  ["2d", NOW + 2 * 86_400_000],
] as const)
  test(`"${text}" is a time to come`, () => assert.equal(timeAfter(text, NOW), at));

for (const text of ["", "24:00", "18:60", "18:5", "m", "0m", "-5m", "5", "5w", "1m2h", "99999d", "18:05pm"])
  test(`"${text}" is no time`, () => assert.equal(timeAfter(text, NOW), undefined));

test("a time to come is shown with as much of its date as it needs", () => {
  assert.equal(formatTime(on(10, 18, 5), NOW), "18:05");
  assert.equal(formatTime(on(11, 9, 5), NOW), "Thu 09:05");
  assert.equal(formatTime(on(28, 9, 5), NOW), "28 Mar 09:05");
  assert.equal(formatTime(new Date(2028, 0, 3, 9, 5).getTime(), NOW), "3 Jan 2028 09:05");
});

test("the queue shows the time of a scheduled input, also while another one begins a turn", () => {
  const item = { delivery: "follow_up" as const, files: [], note: false, by: null, at: 0 };
  const inbox = [
    { ...item, inputId: "a", content: "now", dueAt: null },
    { ...item, inputId: "b", content: "look again", dueAt: on(10, 18, 5) },
  ];
  const context = { width: 80, now: NOW, unicode: true };
  const shown = (status: "idle" | "running") =>
    queueLines({ inbox, turnId: null, status }, context as Parameters<typeof queueLines>[1]).map(plainText);
  assert.deepEqual(shown("idle"), ["queued  now", "at 18:05  look again"]);
  assert.deepEqual(shown("running").at(-1), "at 18:05  look again");
});
