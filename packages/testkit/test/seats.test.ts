import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
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
import { sqliteStore } from "@cinch/sqlite";
import { talker } from "./seats-talker.ts";

/** Somebody who watches the thread: what they were given, having seen it up to `since`. */
interface Watcher {
  name: string;
  since: number;
  got: HarnessEvent[];
}

async function until(isTrue: () => boolean, what: string): Promise<void> {
  for (const end = Date.now() + 20_000; Date.now() < end; await pause(5)) if (isTrue()) return;
  assert.fail(`${what} never happened`);
}

const isDurable = (event: HarnessEvent): event is HarnessEvent & DurableEvent => "v" in event;
const lastSeq = ({ got }: Watcher) => got.filter(isDurable).at(-1)?.seq ?? 0;

/** What they were shown of a message while it was said. */
const shown = ({ got }: Watcher, messageId: string): string =>
  got
    .flatMap((event) => (event.type === "message_update" && event.messageId === messageId ? [event.delta] : []))
    .join("");

/** The message that they see being said. */
const streaming = ({ got }: Watcher): string | undefined =>
  got.reduce<string | undefined>((id, event) => {
    if (event.type === "message_update") return event.messageId;
    return event.type === "message_end" ? undefined : id;
  }, undefined);

/** A folder with a store that has one thread, "t". */
async function place() {
  const folder = mkdtempSync(join(tmpdir(), "cinch-seats-"));
  const store = sqliteStore({ path: join(folder, "cinch.db") });
  await store.open();
  await store.append("t", [{ type: "thread_created", v: 1, at: 1, title: "", resourceId: "default" }], { afterSeq: 0 });
  return Object.assign(store, {
    folder,
    async [Symbol.asyncDispose]() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  });
}

function watch(name: string, session: Session, since?: number): Watcher {
  const watcher: Watcher = { name, since: since ?? session.getDisplayState().seq, got: [] };
  session.subscribe((event) => watcher.got.push(event), since === undefined ? {} : { since });
  return watcher;
}

/** The same in a process of its own, which does what it is told. */
async function watchFromAfar(name: string, folder: string, since: number) {
  const program = join(import.meta.dirname, "seats-process.ts");
  const child = fork(program, [folder, `${since}`], { execArgv: ["-C", "@cinch/source"] });
  const watcher: Watcher = { name, since, got: [] };
  const ready = Promise.withResolvers<void>();
  child.on("message", (message: { event: HarnessEvent } | { ready: true }) => {
    if ("event" in message) watcher.got.push(message.event);
    else ready.resolve();
  });
  await ready.promise;
  return Object.assign(watcher, {
    tell: (method: "sendMessage" | "steer", content: string) => child.send({ method, content }),
    async [Symbol.asyncDispose]() {
      child.disconnect();
      await once(child, "exit");
    },
  });
}

/** Everything durable after what they knew, once and in order, and so that it shows what the journal says. */
function assertSawAll({ name, since, got }: Watcher, journal: readonly DurableEvent[]): void {
  assert.deepEqual(got.filter(isDurable), journal.slice(since), `${name} saw other events`);
  const [past, all] = [journal.slice(0, since) as HarnessEvent[], journal as HarnessEvent[]];
  const known = past.reduce(reduceDisplay, newDisplayState("t"));
  const whole = all.reduce(reduceDisplay, newDisplayState("t"));
  assert.deepEqual(got.reduce(reduceDisplay, known), whole, `${name} shows something else`);
  assert.ok(!got.some(({ type }) => type === "resync"), `${name} was told to start anew`);
}

test(
  "two seats here, one in another process and two that join midway: all see every event once, in order, and what streams",
  { timeout: 60_000 },
  async () => {
    await using at = await place();
    const harness = talker(at.folder);
    try {
      const [first, second] = [
        await harness.createSession({ threadId: "t" }),
        await harness.createSession({ threadId: "t" }),
      ];
      await using afar = await watchFromAfar("afar", at.folder, 0);
      const watchers: Watcher[] = [watch("first", first), watch("second", second, 0), afar];

      /** Lets the answer that waits for a file go on when all have been shown its first half. */
      const answerWhenShown = async (file: string) => {
        const isShown = (watcher: Watcher) => {
          const id = streaming(watcher);
          return id !== undefined && shown(watcher, id) === "Half of it, ";
        };
        await until(() => watchers.every(isShown), `the first half of "${file}", for all`);
        assert.equal(new Set(watchers.map(streaming)).size, 1);
        writeFileSync(join(at.folder, file), "");
      };

      const turn = first.sendMessage({ content: "one, wait for this" });
      await until(() => streaming(afar) !== undefined, "what is said here, shown there");
      await using late = await watchFromAfar("late, afar", at.folder, 3);
      watchers.push(late, watch("late, here", await harness.createSession({ threadId: "t" }), 2));
      afar.tell("steer", "two");
      await until(() => first.getDisplayState().inbox.length === 1, "the steer");
      const third = second.sendMessage({ content: "three" });
      await answerWhenShown("this");
      assert.deepEqual([(await turn).reason, (await third).reason], ["complete", "complete"]);
      afar.tell("sendMessage", "four, wait for that");
      await answerWhenShown("that");

      const ends = () => first.getDisplayState().status === "idle" && first.getDisplayState().inbox.length === 0;
      await until(ends, "the end");
      const journal = await at.read("t");
      await until(() => watchers.every((watcher) => lastSeq(watcher) === journal.length), "the end, for all");
      for (const watcher of watchers) assertSawAll(watcher, journal);
      assert.deepEqual(
        journal.flatMap((event) =>
          event.type === "message_end" && event.message.role === "user" ? [textOf(event.message.content)] : [],
        ),
        ["one, wait for this", "two", "three", "four, wait for that"],
      );
    } finally {
      await harness.close();
    }
  },
);
