import assert from "node:assert/strict";
import { test } from "node:test";
import type { Harness } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { fail, hang, type ScriptedModel } from "@cinch/testkit";
import * as fc from "fast-check";
import { observationalMemory, summaries } from "@cinch/memory";
import { answer, assertCovered, resultsIn, simulated, stepsOf, worker } from "./simulation.ts";

const act = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("work" as const), steps: fc.integer({ min: 0, max: 12 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("compact" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("refused" as const), chars: fc.integer({ min: 1, max: 40_000 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom("rewind" as const, "clone"),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("crash" as const) }) },
);

const observers = [
  () => answer(`- Seen. ${"A fact. ".repeat(60)}`),
  () => fail(new Error("no")),
  () => hang(),
  () => answer(" "),
];

const memories = {
  observations: () => observationalMemory({ messageTokens: 2_000, observationTokens: 1_000 }),
  summaries,
};

const tooLong = fail(Object.assign(new Error("prompt is too long"), { statusCode: 400 }));

/** One process with its own store object. */
interface Process {
  harness: Harness;
  store: MemoryStore;
  model: ScriptedModel;
}

for (const [name, memory] of Object.entries(memories)) {
  test(`with ${name}, each message is in the prompt or covered by one block, after any crashes, clones and rewinds`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(act, { minLength: 3, maxLength: 10 }),
        fc.infiniteStream(fc.nat(observers.length - 1)),
        async (acts, moods) => {
          const data = new MemoryData();
          let step = 0;
          let steps = 0;
          let isRefused = false;
          const open = async (): Promise<Process> => {
            const store = new MemoryStore(data);
            const model = worker(0, {
              observer: () => observers[moods.next().value ?? 0]!(),
              agent() {
                if (isRefused) return tooLong;
                if (steps-- <= 0) return answer("Done.");
                return answer("I look.", { name: "look", input: { at: ++step }, id: `call-${step}` });
              },
            });
            const { harness } = await simulated(model, { memory: memory(), storage: store, contextWindow: 6_000 });
            return { harness, store, model };
          };
          let now = await open();
          const check = async () => {
            steps = 0;
            await now.harness.sendMessage({ content: "How far are you?" });
            const events = await now.store.read(now.harness.getCurrentThreadId()!);
            assertCovered(stepsOf(now.model).at(-1)!.prompt, resultsIn(events));
          };
          for (const next of acts) {
            if (next.kind === "work") {
              steps = next.steps;
              const { reason } = await now.harness.sendMessage({ content: "Look." });
              assert.equal(reason, "complete");
            } else if (next.kind === "refused") {
              isRefused = true;
              const { error } = await now.harness.sendMessage({ content: "x".repeat(next.chars) });
              assert.equal(error?.code, "CONTEXT_OVERFLOW");
              isRefused = false;
            } else if (next.kind === "compact") await now.harness.compact();
            else if (next.kind === "crash") {
              const threadId = now.harness.getCurrentThreadId();
              now.store.die();
              await now.harness.close().catch(() => undefined);
              now = await open();
              if (threadId !== null) await now.harness.switchThread({ threadId });
            } else if (now.harness.getCurrentThreadId() !== null) {
              // Without what a rewind has reverted.
              const events = await now.harness.listEvents({ limit: 10_000 });
              const { seq } = events[Math.floor(next.at * (events.length - 1))]!;
              if (next.kind === "rewind") await now.harness.rewind({ toSeq: seq });
              else await now.harness.cloneThread({ atSeq: seq });
            }
            await check();
          }
          await now.harness.close();
        },
      ),
      { numRuns: 60 },
    );
  });
}
