/**
 * A small app on a real terminal: what is typed is drawn, Enter prints it, Ctrl-F prints 3,000 lines. Ctrl-Z suspends, Ctrl-X crashes,
 * Ctrl-D exits. What is typed is also in the file TYPED.
 */
import { writeFileSync } from "node:fs";
import { stderr, stdin, stdout } from "node:process";
import type { Clock } from "@cinch/core";
import { featuresOf } from "../../../src/terminal/features.ts";
import { Keyboard } from "../../../src/terminal/keyboard.ts";
import type { KeyEvent } from "../../../src/terminal/keys.ts";
import { line } from "../../../src/terminal/line.ts";
import { TerminalModes } from "../../../src/terminal/modes.ts";
import { Screen } from "../../../src/terminal/screen.ts";
import { ttyInput, TtyOutput } from "../../../src/terminal/tty.ts";

const clock: Clock = {
  now: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
const features = featuresOf(process.env);
const output = new TtyOutput(stdout, { onError: (error) => stderr.write(String(error)) });
const input = ttyInput(stdin);
let typed = "";
let entered: string[] = [];
const screen = new Screen({
  output,
  clock,
  features,
  frame({ columns }) {
    const print = entered.map((one) => line(`entered ${one}`));
    entered = [];
    const rule = line("─".repeat(columns - 1), { dim: true });
    return {
      print,
      live: [rule, line(`> ${typed}`), rule, line("ready")],
      cursor: { row: 1, column: 2 + typed.length },
    };
  },
});
const modes = new TerminalModes({ input, output, clock, screen });
const keyboard = new Keyboard({ input, clock, unicode: features.unicode, on });
screen.draw();

function on(event: KeyEvent): void {
  modes.answer(event);
  if (event.type === "text" || event.type === "paste") typed += event.text;
  if (event.type === "focus") typed += event.focused ? "<in>" : "<out>";
  if (event.type === "key") press(event.key);
  if (process.env["TYPED"]) writeFileSync(process.env["TYPED"], typed);
  screen.draw();
}

function press(key: string): void {
  if (key === "enter") {
    entered.push(typed);
    typed = "";
  } else if (key === "ctrl-f") entered = Array.from({ length: 3_000 }, (_, at) => `${at} ${"x".repeat(60)}`);
  else if (key === "ctrl-z") modes.suspend();
  else if (key === "ctrl-x") throw new Error("crashed on purpose");
  else if (key === "ctrl-d") {
    keyboard[Symbol.dispose]();
    modes[Symbol.dispose]();
    screen[Symbol.dispose]();
  } else typed += `<${key}>`;
}
