import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { systemClock } from "@cinch/core";
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

test("a process that could not run for a while does not take its own pause for a lone Esc", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const typing = connect(port, "127.0.0.1");
  const [terminal] = (await once(server, "connection")) as [Socket];
  const events: KeyEvent[] = [];
  const typed = Promise.withResolvers<void>();
  const input = {
    setRaw() {},
    onBytes(listener: (bytes: Uint8Array) => void) {
      terminal.on("data", listener);
      return () => void terminal.off("data", listener);
    },
  };
  const on = (event: KeyEvent) => {
    events.push(event);
    typed.resolve();
  };
  using _ = new Keyboard({ input, clock: systemClock, unicode: true, on });
  terminal.once("data", () => {
    typing.write("[A");
    for (const end = performance.now() + 200; performance.now() < end;);
  });
  typing.write("\u001b");
  await typed.promise;
  assert.deepEqual(events, [{ type: "key", key: "up" }]);
  for (const socket of [typing, terminal]) socket.destroy();
  server.close();
});
