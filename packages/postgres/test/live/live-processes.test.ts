import assert from "node:assert/strict";
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { describe, test } from "node:test";
import { Agent, Harness, type HarnessEvent, type Placement } from "@cinch/core";
import { peerLive, postgresStore } from "@cinch/postgres";
import { script } from "@cinch/testkit";
import { bundle } from "../../../testkit/test/bundle.ts";
import { Place } from "../place.ts";
import { until } from "../until.ts";

const program = await bundle(new URL("../programs/live-worker.ts", import.meta.url));
const secret = "a-secret-of-the-workers";
const WORDS = 250;
const textOf = (name: string): string => Array.from({ length: WORDS }, (_, at) => `${name}${at} `).join("");

async function worker(place: Place, name: string): Promise<ChildProcess> {
  const args = [JSON.stringify(place.options), secret, name, String(WORDS)];
  const child = fork(program, args, { execArgv: [] });
  place.add({ close: async () => void child.kill("SIGKILL") });
  await once(child, "message");
  return child;
}

const placement: Placement = {
  serve: async () => undefined,
  wake: async () => undefined,
  drain: async () => undefined,
};

async function front(place: Place) {
  const harness = place.add(
    new Harness({
      id: "front",
      storage: postgresStore(place.options),
      agent: new Agent({ name: "talker", model: script() }),
      placement,
      live: peerLive({ secret }),
    }),
  );
  await harness.init();
  const seen: HarnessEvent[] = [];
  harness.subscribe((event) => seen.push(event));
  return Object.assign(harness, { seen });
}

/** The deltas of each message, in the order in which they began. */
function streamed(events: readonly HarnessEvent[]): string[] {
  const texts = new Map<string, string>();
  for (const event of events)
    if (event.type === "message_update") texts.set(event.messageId, (texts.get(event.messageId) ?? "") + event.delta);
  return [...texts.values()];
}

const seqs = (events: readonly HarnessEvent[]): number[] =>
  events.flatMap((event) => ("v" in event ? [event.seq] : []));

for (const signal of ["SIGKILL", "SIGSTOP"] as const)
  describe(`workers and a front on Postgres, ${signal}`, () => {
    test("a front shows the driver's deltas, and those of the next one when it is gone", async () => {
      await using place = await Place.make();
      const workers = { a: await worker(place, "a"), b: await worker(place, "b") };
      const watcher = await front(place);
      const { id } = await watcher.createThread();
      const turn = watcher.sendMessage({ content: "Talk." });
      await until("the first driver streams", () => (streamed(watcher.seen)[0]?.length ?? 0) > 200);
      const first = streamed(watcher.seen)[0]!.startsWith("a") ? "a" : "b";
      const second = first === "a" ? "b" : "a";
      workers[first].kill(signal);
      await until("the second one streams", () => (streamed(watcher.seen)[1]?.length ?? 0) > 200);
      workers[first].kill("SIGCONT");
      assert.equal((await turn).reason, "complete");
      const [before, after, ...others] = streamed(watcher.seen);
      assert.ok(textOf(first).startsWith(before!), "of the first driver: no text twice, none lost");
      assert.equal(after, textOf(second), "every delta of the second one");
      assert.deepEqual(others, []);
      const deltas = watcher.seen.filter(({ type }) => type === "message_update").length;
      // Drafts would be a dozen. A link that is slow for a moment joins deltas.
      assert.ok(deltas > 30, `${deltas} deltas: they came over the link, not as drafts`);
      const { seq } = watcher.getDisplayState();
      assert.deepEqual(
        seqs(watcher.seen),
        Array.from({ length: seq - 1 }, (_, at) => at + 2),
      );
      const late = await front(place);
      await late.switchThread({ threadId: id });
      assert.deepEqual(late.getDisplayState(), watcher.getDisplayState());
      assert.equal(watcher.getDisplayState().currentMessage, null);
    });
  });
