import type { Frame } from "../../src/terminal/frame.ts";
import type { Line } from "../../src/terminal/line.ts";
import { Screen } from "../../src/terminal/screen.ts";
import type { Size } from "../../src/terminal/terminal-port.ts";
import { Headless, TestClock } from "./headless.ts";

export const features = { colors: true, unicode: true, reflow: true };
export const plainText = (shown: Line): string => shown.spans.map((span) => span.text).join("");

/** A screen on a headless terminal. Each frame's `print` is given once. */
export function setUp(size: Size, options = features) {
  const output = new Headless(size);
  const clock = new TestClock();
  let current: Frame = { print: [], live: [], cursor: null };
  const frame = () => {
    const given = current;
    current = { ...current, print: [] };
    return given;
  };
  const screen = new Screen({ output, clock, features: options, frame });
  const show = async (next: Frame) => {
    current = { ...next, print: [...current.print, ...next.print] };
    screen.draw();
    await output.settled();
  };
  return { output, clock, screen, show, set: (next: Frame) => (current = next) };
}
