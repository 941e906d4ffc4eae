import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryStore, type Live, type LiveFrame, type LiveReader, type LiveSource } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { hang, say, script, type Step } from "@cinch/testkit";
import { harness, onlyHere } from "../support.ts";
import { liveText } from "./live-pair.ts";
import { settled, until } from "./reconnect-talk.ts";

const two = onlyHere("the second harness is in this process");

/** A driver, and a watcher whose frames the test sends by hand. */
async function byHand(...steps: Step[]) {
  const data = new MemoryData();
  let source: LiveSource | undefined;
  const readers: LiveReader[] = [];
  const close = async () => undefined;
  const ofDriver: Live = {
    open: async (opened) => {
      source = opened;
      return { address: "driver:1" };
    },
    follow: () => () => undefined,
    close,
  };
  const ofWatcher: Live = {
    open: async () => ({}),
    follow: (_, __, reader) => {
      readers.push(reader);
      return () => undefined;
    },
    close,
  };
  const driver = await harness({ model: script(...steps), storage: memoryStore(data), live: ofDriver });
  const { id } = await driver.createThread();
  const watcher = await harness({ model: script(), storage: memoryStore(data), live: ofWatcher });
  await watcher.switchThread({ threadId: id });
  const turn = driver.sendMessage({ content: "Go." });
  turn.catch(() => undefined);
  await until(() => readers.length > 0 && driver.getDisplayState().currentMessage !== null);
  /** What the driver sends to a reader that begins now. */
  const frames = (from?: { epoch: number; next: number }): LiveFrame[] => {
    const sent: LiveFrame[] = [];
    source!.watch(id, (frame) => sent.push(JSON.parse(JSON.stringify(frame)) as LiveFrame), from)?.();
    return sent;
  };
  const dispose = async () => {
    await watcher.close();
    await driver.close();
  };
  const reader = () => readers.at(-1)!;
  return { driver, watcher, id, data, readers, reader, frames, turn, [Symbol.asyncDispose]: dispose };
}

const info = (threadId: string, message: string) => ({ type: "info", threadId, at: 1, message }) as const;
const told = (watcher: { seen: { type: string }[] }): string[] =>
  watcher.seen.flatMap((event) => (event.type === "info" && "message" in event ? [String(event.message)] : []));

test("frames of an earlier lease are ignored, and those of a later one are not", two, async () => {
  await using it = await byHand(hang("Hm"));
  const { watcher, id, reader } = it;
  const { seq } = it.driver.getDisplayState();
  reader().read({ kind: "shown", epoch: 7, next: 0, seq, events: [] });
  reader().read({ kind: "events", epoch: 6, first: 0, events: [info(id, "of the past")] });
  reader().read({ kind: "shown", epoch: 6, next: 0, seq, events: [info(id, "shown in the past")] });
  reader().read({ kind: "events", epoch: 7, first: 0, events: [info(id, "of now")] });
  reader().read({ kind: "events", epoch: 8, first: 0, events: [info(id, "of the next lease")] });
  reader().read({ kind: "events", epoch: 7, first: 1, events: [info(id, "of the past by now")] });
  await until(() => told(watcher).length >= 2);
  await settled();
  assert.deepEqual(told(watcher), ["of now", "of the next lease"]);
});

test("a frame that was lost makes the reader begin again with what is shown", two, async () => {
  await using it = await byHand(hang("Hm"));
  const { watcher, id, reader, readers } = it;
  const { seq } = it.driver.getDisplayState();
  reader().read({ kind: "shown", epoch: 1, next: 0, seq, events: [] });
  reader().read({ kind: "events", epoch: 1, first: 3, events: [info(id, "after a gap")] });
  assert.equal(reader().position(), undefined);
  await until(() => readers.length === 2);
  assert.deepEqual(told(watcher), []);
  for (const frame of it.frames()) reader().read(frame);
  await until(() => liveText(watcher.seen) === "Hm");
});

test("events that are missing before those of the link are read from the store", two, async () => {
  await using it = await byHand(hang("Hm"));
  const { driver, watcher, reader, id } = it;
  const { seq } = driver.getDisplayState();
  reader().read({ kind: "shown", epoch: 1, next: 0, seq, events: [] });
  await until(() => watcher.getDisplayState().seq === seq);
  const from = reader().position();
  await driver.renameThread({ title: "One" });
  await driver.renameThread({ title: "Two" });
  await settled();
  const renamed = { type: "thread_renamed", v: 1, at: 1, title: "Two", seq: seq + 2, threadId: id } as const;
  reader().read({ kind: "events", epoch: 1, first: from!.next, events: [renamed] });
  await until(() => watcher.getDisplayState().seq === seq + 2);
  const titles = watcher.seen.flatMap((event) => (event.type === "thread_renamed" ? [event.title] : []));
  assert.deepEqual(titles.slice(-2), ["One", "Two"]);
});

test("a large event does not go over the link: the reader reads it", two, async () => {
  const large = "x".repeat(200_000);
  await using it = await byHand(hang("Hm"));
  const { driver, watcher, reader } = it;
  const [shown] = it.frames();
  reader().read(shown!);
  await driver.steer({ content: large });
  await settled();
  const rest = it.frames(reader().position()).filter(({ kind }) => kind === "events");
  assert.ok(JSON.stringify(rest).length < 10_000);
  for (const frame of rest) reader().read(frame);
  await until(() => watcher.getDisplayState().seq === driver.getDisplayState().seq);
  assert.equal(watcher.getDisplayState().inbox[0]?.content, large);
});

test("live events that this release does not know, or that are malformed, are left out", two, async () => {
  await using it = await byHand(hang("Hm"));
  const { watcher, id, reader } = it;
  const { seq } = it.driver.getDisplayState();
  reader().read({ kind: "shown", epoch: 1, next: 0, seq, events: [] });
  const strange = [
    { type: "telepathy", threadId: id, at: 1 },
    { type: "message_update", threadId: id, at: 1, messageId: 7 },
    { type: "info", threadId: id, at: 1 },
    { type: "constructor", threadId: id, at: 1 },
  ] as never[];
  reader().read({ kind: "events", epoch: 1, first: 0, events: [...strange, info(id, "known")] });
  await until(() => told(watcher).length > 0);
  assert.deepEqual(told(watcher), ["known"]);
  assert.ok(!watcher.seen.some(({ type }) => ["telepathy", "constructor"].includes(type)));
});

test("a durable event that is malformed is not folded: the store has it", two, async () => {
  await using it = await byHand(hang("Hm"));
  const { driver, watcher, id, reader } = it;
  const { seq } = driver.getDisplayState();
  reader().read({ kind: "shown", epoch: 1, next: 0, seq, events: [] });
  await driver.renameThread({ title: "Right" });
  const wrong = { type: "thread_renamed", v: 1, at: 1, title: 7, seq: seq + 1, threadId: id } as never;
  reader().read({ kind: "events", epoch: 1, first: 0, events: [wrong] });
  await until(() => watcher.getDisplayState().title === "Right");
  assert.deepEqual(watcher.getDisplayState().seq, seq + 1);
});

test("a message that the driver has discarded meanwhile is discarded here too", two, async () => {
  await using it = await byHand(hang("Hm"), say("x"));
  const { watcher, reader } = it;
  for (const frame of it.frames()) reader().read(frame);
  await until(() => liveText(watcher.seen) === "Hm");
  const { seq } = it.driver.getDisplayState();
  reader().read({ kind: "shown", epoch: 1, next: 9, seq, events: [] });
  await until(() => watcher.getDisplayState().currentMessage === null);
  assert.equal(watcher.seen.filter(({ type }) => type === "message_discarded").length, 1);
});

test("a link whose events can't be folded is tried again ever more rarely", two, async () => {
  await using it = await byHand(hang("Hm"));
  const { data, id, driver, readers } = it;
  const { seq } = driver.getDisplayState();
  const json = JSON.stringify({ type: "thread_renamed", v: 1, at: 1, title: 7 });
  data.threads.get(id)!.journal.push({ seq: seq + 1, json });
  let answered = 0;
  const answer = () => {
    for (; answered < readers.length; answered++)
      readers[answered]!.read({ kind: "shown", epoch: 1, next: 0, seq: seq + 1, events: [] });
  };
  const end = Date.now() + 1_500;
  await until(() => {
    answer();
    return Date.now() > end && readers.length >= 3;
  });
  assert.ok(readers.length < 10, `${readers.length} times`);
});
