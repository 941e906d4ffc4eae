import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { startTimeIn } from "../src/holder.ts";
import { Observer } from "../src/observer.ts";

const RENEW = 1000;
const PERIOD = 5000;

/** Observes the holder `h` on a simulated clock. */
class Simulation {
  readonly #db = new DatabaseSync(":memory:");
  readonly #observer: Observer;
  counter = 1;

  constructor() {
    this.#db.exec("CREATE TABLE holders (id, counter); INSERT INTO holders VALUES ('h', 1)");
    this.#observer = new Observer(this.#db, { renewMs: RENEW, periodMs: PERIOD });
  }

  /** Checks twice per second. Returns the times at which the holder was dead. */
  watch(times: { from: number; to: number; canWrite?: boolean; renews?: boolean }): number[] {
    const dead: number[] = [];
    for (let now = times.from; now <= times.to; now += RENEW / 2) {
      if (times.renews && now % RENEW === 0) this.#db.exec(`UPDATE holders SET counter = ${++this.counter}`);
      this.#observer.watch("h", now);
      if (this.#observer.readCounters(now) && times.canWrite !== false) this.#observer.probe(now)();
      if (this.#observer.isDead("h", this.counter, now)) dead.push(now);
    }
    return dead;
  }
}

test("a holder is dead after a period in which the observer wrote and it did not renew", () => {
  assert.deepEqual(new Simulation().watch({ from: 0, to: 6000 }), [5000, 5500, 6000]);
});

test("a holder that renews is alive, and is dead a period after it became suspect", () => {
  const simulation = new Simulation();
  assert.deepEqual(simulation.watch({ from: 0, to: 9000, renews: true }), []);
  assert.deepEqual(simulation.watch({ from: 9500, to: 15_500 }), [15_500]);
});

test("time in which the observer could not write does not count", () => {
  const simulation = new Simulation();
  assert.deepEqual(simulation.watch({ from: 0, to: 3000 }), []);
  assert.deepEqual(simulation.watch({ from: 3500, to: 60_000, canWrite: false }), []);
  assert.deepEqual(simulation.watch({ from: 60_500, to: 65_500 }), [65_500]);
});

test("a holder is no longer dead when the observer cannot write any more", () => {
  const simulation = new Simulation();
  assert.deepEqual(simulation.watch({ from: 0, to: 5000 }), [5000]);
  assert.deepEqual(simulation.watch({ from: 5500, to: 60_000, canWrite: false }), [5500, 6000, 6500, 7000]);
});

test("a holder that renews again is alive again", () => {
  const simulation = new Simulation();
  assert.deepEqual(simulation.watch({ from: 0, to: 5000 }), [5000]);
  assert.deepEqual(simulation.watch({ from: 6000, to: 30_000, renews: true }), []);
});

test("the start time of a process is found whatever its name is, and is empty until a dead process is reaped", () => {
  const rest = Array.from({ length: 30 }, (_, at) => `${at + 4}`).join(" ");
  assert.equal(startTimeIn(`12 (node) S ${rest}`), "22");
  assert.equal(startTimeIn(`12 (a) Z 1 (b) R ${rest}`), "22");
  assert.equal(startTimeIn(`12 (node) Z ${rest}`), "");
});
