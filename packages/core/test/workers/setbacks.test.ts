import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/ports/clock.ts";
import { Setbacks } from "../../src/workers/setbacks.ts";

/** The time that passes is the one that the test says. */
class Waits {
  now = 1_000_000;
  readonly setbacks = new Setbacks({ ...systemClock, now: () => this.now });

  /** How long the thread is left to others after one more setback. */
  after(dueIn?: number): number {
    this.setbacks.add("t", dueIn === undefined ? null : this.now + dueIn);
    const from = this.now;
    while (this.setbacks.threads.includes("t")) this.now += 100;
    return this.now - from;
  }
}

test("a thread that a worker could not drive is left to others for twice as long each time, up to a minute", () => {
  const waits = new Waits();
  assert.deepEqual(
    Array.from({ length: 8 }, () => waits.after()),
    [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000],
  );
  waits.setbacks.delete("t");
  assert.equal(waits.after(), 1_000);
});

test("a thread that is due by the clock of the store alone is tried again when it is due here", () => {
  const waits = new Waits();
  waits.after();
  waits.after();
  assert.equal(waits.after(300), 300);
  assert.equal(waits.after(50_000), 600);
});
