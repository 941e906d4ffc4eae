import assert from "node:assert/strict";
import { test } from "node:test";
import { line } from "../../src/terminal/line.ts";
import { Screen } from "../../src/terminal/screen.ts";
import { TestClock } from "./headless.ts";
import { features } from "./stage.ts";

/** A terminal that takes each write only when the test says so. */
function setUp({ full = false, writing = () => {} } = {}) {
  const clock = new TestClock();
  const written: string[] = [];
  let taken: (() => void) | undefined;
  let resized = () => {};
  let drawn = 0;
  const shownAt: number[] = [];
  const state = { answer: "" };
  const output = {
    size: () => ({ columns: 80, rows: 24 }),
    write(bytes: string, done: () => void) {
      written.push(bytes);
      writing();
      if (full) taken = done;
      else done();
    },
    writeNow: (bytes: string) => void written.push(bytes),
    onResize(listener: () => void) {
      resized = listener;
      return () => (resized = () => {});
    },
  };
  const frame = () => {
    drawn += 1;
    return { print: [], live: [line(state.answer), line("> ")], cursor: { row: 1, column: 2 } };
  };
  const screen = new Screen({ output, clock, features, frame, drawn: (at) => shownAt.push(at) });
  const asked = { take: () => taken?.(), resize: () => resized(), drawn: () => drawn };
  return { clock, written, screen, state, shownAt, ...asked };
}

test("200 changes a second are at most 60 frames", () => {
  const { clock, screen, state, drawn } = setUp();
  for (let at = 0; at < 200; at++) {
    state.answer += "word ";
    screen.request();
    clock.advance(5);
  }
  assert.ok(drawn() <= 61 && drawn() >= 45, String(drawn()));
});

test("a frame is shown from when its bytes are ready, however late the process goes on after writing them", () => {
  const stage = setUp({ writing: () => stage.clock.advance(400) });
  stage.clock.advance(10);
  stage.screen.draw();
  assert.deepEqual(stage.shownAt, [10]);
});

test("a clock that is set back delays no frame", () => {
  const { clock, screen, state, written } = setUp();
  screen.draw();
  clock.setBack(3_600_000);
  state.answer = "news";
  screen.request();
  clock.advance(20);
  assert.match(written.at(-1)!, /news/);
});

test("a key is drawn at once, and the frame that was due is not drawn again", () => {
  const { clock, screen, state, written, drawn } = setUp();
  screen.draw();
  state.answer = "delta";
  screen.request();
  assert.equal(written.length, 1);
  state.answer = "delta and key";
  screen.draw();
  assert.match(written.at(-1)!, /delta and key/);
  clock.advance(1_000);
  assert.equal(drawn(), 2);
});

test("when nothing changes, nothing is written", () => {
  const { clock, screen, written } = setUp();
  screen.draw();
  clock.advance(60_000);
  screen.request();
  clock.advance(60_000);
  assert.equal(written.length, 1);
});

test("a terminal that is full gets no frames, and then the newest one", () => {
  const { clock, screen, state, written, take, drawn } = setUp({ full: true });
  screen.draw();
  for (let at = 0; at < 500; at++) {
    state.answer = `state ${at}`;
    if (at % 2 === 0) screen.request();
    else screen.draw();
    clock.advance(50);
  }
  assert.equal(written.length, 1);
  assert.equal(drawn(), 1);
  take();
  clock.advance(50);
  assert.equal(written.length, 2);
  assert.match(written[1]!, /state 499/);
});

test("after a resize everything is drawn, even if the size is the same again", () => {
  const { screen, state, written, resize } = setUp();
  state.answer = "answer";
  screen.draw();
  resize();
  assert.ok(written[1]!.includes("\u001b[A\u001b[2G\u001b[J\r\u001b[Kanswer\r\n> "));
});

test("while another program has the terminal nothing is drawn; afterwards everything is", () => {
  const { clock, screen, state, written, resize } = setUp();
  state.answer = "before";
  screen.draw();
  assert.equal(screen.leave(), "\u001b[A\u001b[2G\u001b[J\r\u001b[K");
  state.answer = "after";
  screen.request();
  screen.draw();
  resize();
  clock.advance(1_000);
  assert.equal(written.length, 1);
  screen.enter();
  assert.ok(written[1]!.includes("\u001b[J\r\u001b[Kafter\r\n> "));
});
