import assert from "node:assert/strict";
import { test } from "node:test";
import { HolderWatch } from "../src/holder-watch.ts";

interface Beat {
  /** When the observer's beat was sent and answered. */
  at: number;
  took?: number;
  /** What it saw of the holder. */
  beat: number;
  locked?: boolean | null;
}

/** When the holder counts as dead, according to an observer with these beats. */
function deaths(beats: readonly Beat[]): number[] {
  const watch = new HolderWatch(0);
  let previousAt = 0;
  return beats.flatMap(({ at, took = 1, beat, locked = true }) => {
    const answeredAt = at + took;
    watch.observe({ beat, locked }, { sentAt: at, answeredAt, previousAt });
    previousAt = answeredAt;
    return watch.isDead(answeredAt) ? [at] : [];
  });
}

/** A beat of the observer every 250 ms. */
const every250 = (from: number, to: number, seen: Partial<Beat> & { beat: number }): Beat[] =>
  Array.from({ length: (to - from) / 250 }, (_, no) => ({ at: from + no * 250, ...seen }));

test("a holder whose beat stands still for three seconds is dead", () => {
  assert.deepEqual(deaths(every250(0, 3_000, { beat: 7 })), []);
  assert.equal(deaths(every250(0, 5_000, { beat: 7 }))[0], 3_250);
});

test("a holder whose lock is free as well is dead after one second", () => {
  assert.equal(deaths(every250(0, 5_000, { beat: 7, locked: false }))[0], 1_250);
  const lateFree = [...every250(0, 2_000, { beat: 7 }), ...every250(2_000, 5_000, { beat: 7, locked: false })];
  assert.equal(deaths(lateFree)[0], 3_250);
});

test("a holder without its lock that beats is alive, and so is one that never had a lock on this server", () => {
  const beating = every250(0, 10_000, { beat: 0, locked: false }).map((one, no) => ({
    ...one,
    beat: Math.floor(no / 2),
  }));
  assert.deepEqual(deaths(beating), []);
  assert.deepEqual(deaths(every250(0, 3_000, { beat: 7, locked: null })), []);
});

test("time in which the observer could not write does not count, however long it was", () => {
  for (const outage of [2_000, 10_000, 3_600_000]) {
    const slow = { at: 2_000, took: outage, beat: 7, locked: false };
    const after = every250(2_250 + outage, 3_000 + outage, { beat: 7, locked: false });
    const before = every250(0, 2_000, { beat: 7 });
    assert.deepEqual(deaths([...before, slow, ...after]), [], "an answer that was late");
    assert.deepEqual(deaths([...before, ...after]), [], "a process that was stopped");
  }
});

test("a dead holder is found after an outage too", () => {
  const beats = [...every250(0, 1_000, { beat: 7 }), ...every250(60_000, 65_000, { beat: 7 })];
  assert.equal(deaths(beats)[0], 63_250);
});

test("an observer that beats once a second, because all is well, makes no holder dead in an outage either", () => {
  const calm = [1, 2, 3].map((beat) => ({ at: beat * 1_000, beat }));
  for (const outage of [1_600, 4_000, 3_600_000]) {
    const after = every250(3_000 + outage, 5_900 + outage, { beat: 3, locked: false });
    assert.deepEqual(deaths([...calm, ...after.slice(0, 4)]), []);
    assert.deepEqual(deaths([...calm, ...after.map((one) => ({ ...one, locked: true }))]), []);
  }
  const suspect = [...calm, { at: 4_000, beat: 3 }, { at: 5_400, beat: 3 }];
  assert.deepEqual(deaths([...suspect, ...every250(5_650, 8_400, { beat: 3 })]), [], "a pause after a suspicion");
});

test("an observer that beats once a second finds a dead holder", () => {
  const calm = [1, 2, 3, 4].map((at) => ({ at: at * 1_000, beat: Math.min(at, 3) }));
  assert.equal(deaths([...calm, ...every250(4_250, 9_000, { beat: 3 })])[0], 6_250);
  assert.equal(deaths([...calm, ...every250(4_250, 9_000, { beat: 3, locked: false })])[0], 5_500);
});

test("a verdict is not used when the observer has not looked for a while", () => {
  const watch = new HolderWatch(0);
  for (const { at, beat } of every250(0, 5_000, { beat: 7 }))
    watch.observe({ beat, locked: true }, { sentAt: at, answeredAt: at + 1, previousAt: at - 249 });
  assert.deepEqual([watch.isDead(5_000), watch.isDead(8_000)], [true, false]);
});
