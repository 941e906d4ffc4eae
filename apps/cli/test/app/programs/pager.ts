/**
 * A small app on a real terminal whose Ctrl-T opens a pager of 5,000 lines, in pages of 100. Ctrl-Z suspends, Ctrl-X crashes, Ctrl-D
 * exits, also while the pager is open.
 */
import { stderr, stdin, stdout } from "node:process";
import { systemClock } from "@cinch/core";
import { Pager, type PagerSource } from "../../../src/app/pager.ts";
import { featuresOf } from "../../../src/terminal/features.ts";
import { Keyboard } from "../../../src/terminal/keyboard.ts";
import type { KeyEvent } from "../../../src/terminal/keys.ts";
import { line } from "../../../src/terminal/line.ts";
import { TerminalModes } from "../../../src/terminal/modes.ts";
import { Screen } from "../../../src/terminal/screen.ts";
import { ttyInput, TtyOutput } from "../../../src/terminal/tty.ts";

const clock = systemClock;
const features = featuresOf(process.env);
const output = new TtyOutput(stdout, { onError: (error) => stderr.write(String(error)) });
const input = ttyInput(stdin);
let typed = "";
let printed = false;
let pager: Pager | undefined;
const screen = new Screen({
  output,
  clock,
  features,
  frame() {
    const print = printed ? [] : [line("printed once")];
    printed = true;
    return { print, live: [line(`> ${typed}`), line("ready")], cursor: { row: 0, column: 2 + typed.length } };
  },
});
const modes = new TerminalModes({ input, output, clock, screen });
const keyboard = new Keyboard({ input, clock, unicode: features.unicode, on });
screen.draw();

function source(): PagerSource {
  let left = 5_000;
  return {
    title: "Thread",
    from: "end",
    older: async () => {
      if (left === 0) return null;
      left -= 100;
      return Array.from({ length: 100 }, (_, at) => line(`line ${left + at}`));
    },
  };
}

function on(event: KeyEvent): void {
  modes.answer(event);
  if (event.type === "key" && event.key === "ctrl-z") return modes.suspend();
  if (event.type === "key" && event.key === "ctrl-x") throw new Error("crashed on purpose");
  if (event.type === "key" && event.key === "ctrl-d") {
    keyboard[Symbol.dispose]();
    modes[Symbol.dispose]();
    screen[Symbol.dispose]();
    return;
  }
  if (pager) return pager.press(event);
  if (event.type === "key" && event.key === "ctrl-t") return open();
  if (event.type === "text") typed += event.text;
  screen.draw();
}

function open(): void {
  pager = new Pager({ source: source(), modes, output, clock, features });
  pager.closed.then(
    () => (pager = undefined),
    () => undefined,
  );
}
