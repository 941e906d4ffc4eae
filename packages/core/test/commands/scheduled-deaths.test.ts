import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as tick } from "node:timers/promises";
import * as fc from "fast-check";
import { Agent, Harness, memoryStore, type DurableEvent, type Store } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { say, scriptedBy } from "@cinch/testkit";
import { DyingStore } from "../dying-store.ts";
import { ManualClock } from "../manual-clock.ts";
import { hashAtOnce } from "../scheduled.ts";
import { saidIn } from "./queue-runs.ts";

type Act =
  | { kind: "post"; delayMs: number }
  | { kind: "edit" | "remove"; which: number }
  | { kind: "abort" }
  | { kind: "wait"; ms: number };

/** What one process does before it dies, at its `nth` call of the store. */
interface Life {
  acts: Act[];
  nth: number;
  place: "before" | "after";
}

const delay = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 20_000 }));
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("post" as const), delayMs: delay }) },
  fc.record({ kind: fc.constantFrom("edit" as const, "remove" as const), which: fc.nat(5) }),
  fc.record({ kind: fc.constant("abort" as const) }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 15_000 }) }) },
);
const life: fc.Arbitrary<Life> = fc.record({
  acts: fc.array(act, { maxLength: 8 }),
  nth: fc.integer({ min: 1, max: 60 }),
  place: fc.constantFrom("before" as const, "after" as const),
});

const STEP_MS = 500;
/** The process may have died in the middle of a turn. */
const MOST_TICKS = 200;

class Story {
  readonly data = new MemoryData();
  readonly clock = new ManualClock();
  readonly answered: string[] = [];
  #posted = 0;

  constructor() {
    this.data.now = () => this.clock.now();
  }

  process(storage: Store): Harness {
    const agent = new Agent({ name: "a", model: scriptedBy(() => say("done", { size: 1 })) });
    return new Harness({ id: "test", storage, agent, clock: this.clock });
  }

  async live({ acts, nth, place }: Life): Promise<void> {
    const storage = new DyingStore(this.data);
    const h = this.process(storage);
    await h.selectOrCreateThread();
    storage.dieAt({ nth, place });
    for (const one of acts) await this.#do(h, one).catch(() => undefined);
    if (!storage.isDead) storage.die();
    await h.close();
  }

  async #do(h: Harness, one: Act): Promise<void> {
    switch (one.kind) {
      case "post": {
        const id = `input ${++this.#posted}`;
        const at = one.delayMs > 0 ? { at: this.clock.now() + one.delayMs } : {};
        await h.followUp({ id, content: id, ...at });
        this.answered.push(id);
        return;
      }
      case "edit":
      case "remove": {
        const inbox = h.getDisplayState().inbox;
        const inputId = inbox[one.which % Math.max(1, inbox.length)]?.inputId ?? "none";
        if (one.kind === "remove") return h.removeInput({ inputId });
        return h.editInput({ inputId, content: `${inputId}, edited` });
      }
      case "abort":
        return h.abort();
      case "wait":
        return this.pass(h, one.ms);
    }
  }

  /** Time passes in steps, and between them all that is due happens. */
  async pass(h: Harness, ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= STEP_MS) {
      this.clock.advance(Math.min(left, STEP_MS));
      for (let ticks = 0; ticks < 8 || (ticks < MOST_TICKS && h.getDisplayState().isRunning); ticks++) await tick();
    }
  }
}

interface Waiting {
  content: string;
  /** When it is queued. Of inputs for the same time, those that were scheduled for it come first. */
  key: [time: number, scheduled: number, seq: number];
}

const isBefore = (a: Waiting["key"], b: Waiting["key"]): boolean => {
  const at = a.findIndex((part, index) => part !== b[index]);
  return at >= 0 && a[at]! < b[at]!;
};

/** No input is taken before its time, twice, or before one that was queued earlier. Returns what is left. */
function assertTaken(journal: readonly DurableEvent[]): string[] {
  const inbox = new Map<string, Waiting>();
  const delivered: string[] = [];
  for (const event of journal)
    switch (event.type) {
      case "input_accepted": {
        const { inputId, content, at, dueAt = at, seq } = event;
        inbox.set(inputId, { content, key: [dueAt, dueAt > at ? 0 : 1, seq] });
        break;
      }
      case "input_edited":
        inbox.get(event.inputId)!.content = event.content;
        break;
      case "input_removed":
        assert.ok(inbox.delete(event.inputId), "removed what was not there");
        break;
      case "input_taken": {
        const taken = inbox.get(event.inputId);
        assert.ok(taken, `${event.inputId} was taken and not there`);
        assert.ok(taken.key[0] <= event.at, `${event.inputId} was taken ${taken.key[0] - event.at} ms early`);
        inbox.delete(event.inputId);
        const earlier = [...inbox.values()].filter(({ key }) => isBefore(key, taken.key));
        assert.deepEqual(earlier, [], `${event.inputId} has passed others`);
        delivered.push(taken.content);
      }
    }
  assert.deepEqual(saidIn(journal), delivered);
  return [...inbox.values()].map(({ content }) => content);
}

test("whatever dies, each scheduled input is taken once, not before its time, and in the order of the times", async (t) => {
  hashAtOnce(t);
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 4 }), async (lives) => {
      const story = new Story();
      const first = story.process(memoryStore(story.data));
      await first.createThread();
      await first.close();
      for (const one of lives) await story.live(one);
      const storage = memoryStore(story.data);
      const h = story.process(storage);
      const { id } = await h.selectOrCreateThread();
      await h.resume();
      for (let left = 100; left > 0 && h.getDisplayState().inbox.length > 0; left--) await story.pass(h, 1_000);
      await story.pass(h, 1_000);
      const journal = await storage.read(id);
      assert.deepEqual(assertTaken(journal), []);
      const accepted = journal.flatMap((event) => (event.type === "input_accepted" ? [event.inputId] : []));
      assert.deepEqual(
        story.answered.filter((inputId) => !accepted.includes(inputId)),
        [],
        "what was answered is lost",
      );
      await h.close();
    }),
    { numRuns: 60 },
  );
});
