import assert from "node:assert/strict";
import { test } from "node:test";
import { Keyboard } from "../../src/terminal/keyboard.ts";
import type { KeyEvent } from "../../src/terminal/keys.ts";
import { TestClock } from "./headless.ts";

function setUp() {
  const clock = new TestClock();
  const events: KeyEvent[] = [];
  let type: (text: string) => void = () => {};
  const input = {
    setRaw() {},
    onBytes(listener: (bytes: Uint8Array) => void) {
      type = (text) => listener(Buffer.from(text));
      return () => (type = () => {});
    },
  };
  const keyboard = new Keyboard({ input, clock, unicode: true, on: (event) => events.push(event) });
  return { clock, events, keyboard, type: (text: string) => type(text) };
}

test("Esc alone is a key after 50 ms; with the rest in time it is the start of another", () => {
  const { clock, events, type } = setUp();
  type("\u001b");
  clock.advance(49);
  assert.deepEqual(events, []);
  clock.advance(1);
  assert.deepEqual(events, [{ type: "key", key: "escape" }]);
  type("\u001b");
  clock.advance(40);
  type("[A");
  clock.advance(100);
  assert.deepEqual(events.slice(1), [{ type: "key", key: "up" }]);
});

test("a paste without an end mark ends after 1 s of silence, however long it takes", () => {
  const { clock, events, type } = setUp();
  type("\u001b[200~");
  for (let at = 0; at < 10; at++) {
    type("piece ");
    clock.advance(900);
  }
  assert.deepEqual(events, []);
  clock.advance(100);
  assert.deepEqual(events, [{ type: "paste", text: "piece ".repeat(10) }]);
});

test("a keyboard that is not read any more calls nothing", () => {
  const { clock, events, keyboard, type } = setUp();
  type("\u001b");
  keyboard[Symbol.dispose]();
  type("x");
  clock.advance(1_000);
  assert.deepEqual(events, []);
});
