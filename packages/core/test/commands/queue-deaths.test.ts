import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryData } from "@cinch/core/store";
import { memoryStore, type DurableEvent, type Harness } from "@cinch/core";
import { isWhole } from "../../../testkit/test/share.ts";
import { DyingStore, type Moment } from "../dying-store.ts";
import { hashAtOnce } from "../scheduled.ts";
import { assertDelivered, idle, isIdle, process, until } from "./queue-runs.ts";

/** All commands for a queue, given at once while a turn begins. Returns the events of those that were accepted. */
async function useQueue(h: Harness) {
  const post = (inputId: string, delivery: "send" | "steer" | "follow_up") => ({
    leaves: `input_accepted ${inputId}`,
    answer: h.post({ id: inputId, content: `${inputId}, look`, delivery }),
  });
  const commands = [
    post("first", "send"),
    post("steer", "steer"),
    post("edited", "follow_up"),
    post("removed", "follow_up"),
    { leaves: "input_edited edited", answer: h.editInput({ inputId: "edited", content: "as edited" }) },
    { leaves: "input_removed removed", answer: h.removeInput({ inputId: "removed" }) },
    post("last", "follow_up"),
    post("second steer", "steer"),
  ];
  const answers = await Promise.allSettled(commands.map(({ answer }) => answer));
  return commands.map(({ leaves }) => leaves).filter((_, at) => answers[at]?.status === "fulfilled");
}

const leftBy = (journal: readonly DurableEvent[]) =>
  journal.flatMap((event) => ("inputId" in event ? [`${event.type} ${event.inputId}`] : []));

/** Drives until the process dies or is done. Returns whether it died. */
async function live(storage: DyingStore, h: Harness, what: string): Promise<boolean> {
  await until(() => storage.isDead || isIdle(h), `${what}: neither dead nor idle`);
  await h.close();
  return storage.isDead;
}

/** Runs one process after another that dies at its moment, then one that does not. False if not all of them died. */
async function survive(deaths: Moment[]): Promise<boolean> {
  const what = deaths.map(({ nth, place }) => `${place} ${nth}`).join(", then ");
  const data = new MemoryData();
  let answered: string[] = [];
  for (const [at, death] of deaths.entries()) {
    const storage = new DyingStore(data);
    const h = process(storage);
    if (at === 0) await h.createThread();
    storage.dieAt(death);
    if (at === 0) answered = await useQueue(h);
    else await h.selectOrCreateThread().catch(() => undefined);
    if (!(await live(storage, h, what))) return false;
  }
  const storage = memoryStore(data);
  const h = process(storage);
  const { id } = await h.selectOrCreateThread();
  await idle(what, h);
  const journal = await storage.read(id);
  assert.deepEqual(assertDelivered(journal, what), [], `${what}: something was left`);
  const left = leftBy(journal);
  assert.deepEqual(
    answered.filter((event) => !left.includes(event)),
    [],
    `${what}: what was answered is lost`,
  );
  await h.close();
  return true;
}

const moments = (nth: number): Moment[] => [
  { nth, place: "before" },
  { nth, place: "after" },
];

test("whenever the process dies, the next one delivers the queued inputs once and in order", async (t) => {
  hashAtOnce(t);
  let nth = 1;
  for (let died = true; died; nth++) for (const death of moments(nth)) died = (await survive([death])) && died;
  assert.ok(nth > 30, `it only died ${nth} times`);
});

/** The distance between two moments of a second process that are tried. */
const STEP = isWhole ? 3 : 9;

test("queued inputs are delivered once and in order also if the next process dies as well", async (t) => {
  hashAtOnce(t);
  let runs = 0;
  for (let first = 1; await survive(moments(first).slice(0, 1)); first++) {
    // For each moment of the first process, a share of the moments of the second, with a different start.
    for (let second = 1 + (first % STEP); ; second += STEP) {
      const died = await survive([moments(first)[first % 2]!, moments(second)[second % 2]!]);
      if (!died) break;
      runs++;
    }
  }
  assert.ok(runs > 600 / STEP, `only ${runs} pairs`);
});
