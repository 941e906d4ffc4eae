import assert from "node:assert/strict";
import { test } from "node:test";
import type { KeyEvent } from "../../src/terminal/keys.ts";
import { TerminalModes } from "../../src/terminal/modes.ts";
import { TestClock } from "./headless.ts";

/** What is written while the terminal answers so, another program runs, and the process ends. */
function written(...answers: KeyEvent[]): string[] {
  const all: string[] = [];
  const output = {
    size: () => ({ columns: 80, rows: 24 }),
    write() {},
    writeNow: (bytes: string) => void all.push(bytes),
    onResize: () => () => {},
  };
  const input = { setRaw: (raw: boolean) => void all.push(raw ? "raw" : "cooked"), onBytes: () => () => {} };
  const screen = { leave: () => "", enter() {}, recover() {} };
  const modes = new TerminalModes({ input, output, clock: new TestClock(), screen });
  for (const answer of answers) modes.answer(answer);
  modes.leave();
  modes.enter();
  modes[Symbol.dispose]();
  return all.map((bytes) => bytes.replaceAll("\u001b[", " "));
}

const RESET = " ?2026l ?7h ?25h m ?1004l ?2004l";

test("a terminal that knows the kitty protocol gets it, once; it is set and reset with the other modes", () => {
  assert.deepEqual(written({ type: "kitty" }, { type: "attributes" }), [
    "raw",
    " ?2004h ?1004h ?u c",
    " >5u",
    ` <u${RESET}`,
    "cooked",
    "raw",
    " ?2004h ?1004h >5u",
    ` <u${RESET}`,
    "cooked",
  ]);
});

test("another terminal gets modifyOtherKeys, and one that does not answer keeps its keys", () => {
  const other = written({ type: "text", text: "a" }, { type: "attributes" });
  assert.deepEqual(other.slice(2, 4), [" >4;1m", ` >4m${RESET}`]);
  assert.deepEqual(written().slice(2), [RESET, "cooked", "raw", " ?2004h ?1004h", RESET, "cooked"]);
});

test("modes that were left for good leave no listeners behind", () => {
  const names = ["exit", "SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGTSTP", "SIGCONT"];
  const before = names.map((name) => process.listenerCount(name));
  written();
  assert.deepEqual(
    names.map((name) => process.listenerCount(name)),
    before,
  );
});
