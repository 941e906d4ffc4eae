import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import {
  newDisplayState,
  reduceDisplay,
  textOf,
  type DurableEvent,
  type HarnessEvent,
  type Session,
} from "@cinch/core";
import { place } from "./place.ts";
import { talker } from "./talker.ts";

/** A subscriber of the thread, and the events after `since` that it received. */
interface Subscriber {
  name: string;
  since: number;
  received: HarnessEvent[];
}

async function until(isTrue: () => boolean, what: string): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; await pause(5)) if (isTrue()) return;
  assert.fail(`${what} never happened`);
}

const isDurable = (event: HarnessEvent): event is HarnessEvent & DurableEvent => "v" in event;
const lastSeq = ({ received }: Subscriber) => received.filter(isDurable).at(-1)?.seq ?? 0;

/** The text of a message, as its deltas were received. */
const shown = ({ received }: Subscriber, messageId: string): string =>
  received
    .flatMap((event) => (event.type === "message_update" && event.messageId === messageId ? [event.delta] : []))
    .join("");

/** The id of the message that is streaming. */
const streaming = ({ received }: Subscriber): string | undefined =>
  received.reduce<string | undefined>((id, event) => {
    if (event.type === "message_update") return event.messageId;
    return event.type === "message_end" ? undefined : id;
  }, undefined);

function subscribe(name: string, session: Session, since?: number): Subscriber {
  const subscriber: Subscriber = { name, since: since ?? session.getDisplayState().seq, received: [] };
  session.subscribe((event) => subscriber.received.push(event), since === undefined ? {} : { since });
  return subscriber;
}

/** A subscriber in another process, which also sends messages. */
async function subscribeInProcess(name: string, folder: string, since: number) {
  const program = join(import.meta.dirname, "programs", "subscriber.ts");
  const child = fork(program, [folder, `${since}`], { execArgv: ["-C", "@cinch/source"] });
  const subscriber: Subscriber = { name, since, received: [] };
  const ready = Promise.withResolvers<void>();
  child.on("message", (message: { event: HarnessEvent } | { ready: true }) => {
    if ("event" in message) subscriber.received.push(message.event);
    else ready.resolve();
  });
  await ready.promise;
  return Object.assign(subscriber, {
    call: (method: "sendMessage" | "steer", content: string) =>
      // A process that has ended is seen by what was not received.
      child.send({ method, content }, () => undefined),
    async [Symbol.asyncDispose]() {
      child.disconnect();
      await once(child, "exit");
    },
  });
}

/** Every durable event after `since` was received once and in order, and folds to the display state of the journal. */
function assertReceivedAll({ name, since, received }: Subscriber, journal: readonly DurableEvent[]): void {
  assert.deepEqual(received.filter(isDurable), journal.slice(since), `${name} received other events`);
  const [past, all] = [journal.slice(0, since) as HarnessEvent[], journal as HarnessEvent[]];
  const known = past.reduce(reduceDisplay, newDisplayState("t"));
  const whole = all.reduce(reduceDisplay, newDisplayState("t"));
  assert.deepEqual(received.reduce(reduceDisplay, known), whole, `${name} shows something else`);
  assert.ok(!received.some(({ type }) => type === "resync"), `${name} received a resync`);
}

test("subscribers in one process, in another one and from the middle of a turn receive every event once, in order, and the deltas", async () => {
  await using at = await place();
  const harness = talker(at.folder);
  try {
    const [first, second] = [
      await harness.createSession({ threadId: "t" }),
      await harness.createSession({ threadId: "t" }),
    ];
    await using remote = await subscribeInProcess("remote", at.folder, 0);
    const subscribers: Subscriber[] = [subscribe("first", first), subscribe("second", second, 0), remote];

    /** Lets the model finish its answer when all subscribers have received the first half. */
    const answerWhenShown = async (file: string) => {
      const isShown = (subscriber: Subscriber) => {
        const id = streaming(subscriber);
        return id !== undefined && shown(subscriber, id) === "Half of it, ";
      };
      await until(() => subscribers.every(isShown), `the first half of "${file}", for all`);
      assert.equal(new Set(subscribers.map(streaming)).size, 1);
      writeFileSync(join(at.folder, file), "");
    };

    const turn = first.sendMessage({ content: "one, wait for this" });
    await until(() => streaming(remote) !== undefined, "streaming in the other process");
    await using late = await subscribeInProcess("late, remote", at.folder, 3);
    subscribers.push(late, subscribe("late, here", await harness.createSession({ threadId: "t" }), 2));
    remote.call("steer", "two");
    await until(() => first.getDisplayState().inbox.length === 1, "the steer");
    const third = second.sendMessage({ content: "three" });
    await answerWhenShown("this");
    assert.deepEqual([(await turn).reason, (await third).reason], ["complete", "complete"]);
    remote.call("sendMessage", "four, wait for that");
    await answerWhenShown("that");

    const ends = () => first.getDisplayState().status === "idle" && first.getDisplayState().inbox.length === 0;
    await until(ends, "the end");
    const journal = await at.journal();
    await until(() => subscribers.every((subscriber) => lastSeq(subscriber) === journal.length), "the end, for all");
    for (const subscriber of subscribers) assertReceivedAll(subscriber, journal);
    assert.deepEqual(
      journal.flatMap((event) =>
        event.type === "message_end" && event.message.role === "user" ? [textOf(event.message.content)] : [],
      ),
      ["one, wait for this", "two", "three", "four, wait for that"],
    );
  } finally {
    await harness.close();
  }
});
