import assert from "node:assert/strict";
import { test } from "node:test";
import { Bell } from "../../src/terminal/bell.ts";
import { TestClock } from "./headless.ts";

function setUp({ enabled = true } = {}) {
  const clock = new TestClock();
  const rings: string[] = [];
  const bell = new Bell({ clock, enabled, output: { writeNow: (bytes) => void rings.push(bytes) } });
  clock.advance(60_000);
  return { bell, clock, rings };
}

test("the bell rings without focus, for a long turn and for what waits, and not for a short turn", () => {
  const { bell, clock, rings } = setUp();
  bell.see({ type: "focus", focused: false });
  bell.turnEnded({ durationMs: 3_000 });
  assert.deepEqual(rings, []);
  bell.turnEnded({ durationMs: 30_000 });
  bell.waits();
  assert.deepEqual(rings, ["\u0007"]);
  clock.advance(5_000);
  bell.waits();
  assert.equal(rings.length, 2);
});

test("the bell does not ring in a window that has the focus, nor when it is switched off", () => {
  const { bell, rings } = setUp();
  bell.see({ type: "focus", focused: true });
  bell.waits();
  const off = setUp({ enabled: false });
  off.bell.waits();
  assert.deepEqual([...rings, ...off.rings], []);
});

test("where the terminal does not report the focus, the bell rings unless a key was pressed a moment ago", () => {
  const { bell, clock, rings } = setUp();
  bell.see({ type: "text", text: "a" });
  bell.waits();
  assert.deepEqual(rings, []);
  clock.advance(20_000);
  bell.waits();
  assert.equal(rings.length, 1);
});
