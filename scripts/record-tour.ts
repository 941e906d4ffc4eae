/**
 * npm run record
 *
 * Takes the tour in a real pseudo-terminal, as a user would, and writes what it shows to docs/tour.svg, the picture of the README.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { PseudoTerminal } from "../apps/cli/test/terminal/pseudo-terminal.ts";
import { animatedSvg } from "./recording/animated-svg.ts";
import { screenShot, type ScreenShot } from "./recording/screen-shot.ts";

const FILE = join(import.meta.dirname, "../docs/tour.svg");
const SIZE = { columns: 80, rows: 24 };
const SAMPLE_MS = 250;
/** What the user reads before a key is pressed. */
const READ_MS = 2_500;
/** While the machine works, time is shortened to this. */
const LONGEST_MS = 1_500;
const [ENTER, ESC] = ["\r", "\u001b"];

/** What the terminal shows, and the keys that follow. */
const STORY: readonly [shown: RegExp, keys: string][] = [
  [/› t Take the two-minute tour/, ENTER],
  [/> The total of the cart is wrong/, ENTER],
  [/^› y approve, go to build/m, "y"],
  [/Make this change\?[^]*^› y approve/m, "y"],
  [/Run this command\?[^]*^› y approve/m, "p"],
  [/One test still fails[^]*Make this change\?[^]*^› y approve/m, "y"],
  [/Tour: now undo all of it/, ESC],
  [/Esc again/, ESC],
  [/Rewind to before[^]*src\/cart\.js −2 \+2/, ENTER],
  [/Tour: the files are as they were/, ""],
];

const home = mkdtempSync(join(tmpdir(), "cinch-record-"));
const { NODE_COMPILE_CACHE } = process.env;
using terminal = new PseudoTerminal({ HOME: home, NODE_COMPILE_CACHE, PS1: "~/shop$ " });
const shots: ScreenShot[] = [];
try {
  await terminal.run(
    `cd "$HOME"; cinch() { "${process.execPath}" -C @cinch/source "${bin()}"; }; clear`,
    /^~\/shop\$ $/,
  );
  terminal.type(`cinch${ENTER}`);
  for (const [shown, keys] of STORY) {
    await record(() => shown.test(terminal.rows().join("\n")));
    hold(READ_MS);
    terminal.type(keys);
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
writeFileSync(FILE, animatedSvg(shots, SIZE));
const seconds = shots.reduce((sum, { ms }) => sum + ms, 0) / 1_000;
console.log(`${shots.length} frames, ${seconds.toFixed(0)} s`);
process.exit(0);

function bin(): string {
  return join(import.meta.dirname, "../apps/cli/bin.js");
}

/** Takes a picture whenever the screen has changed, until `done`, and then until nothing changes any more. */
async function record(done: () => boolean): Promise<void> {
  for (let unchanged = 0; unchanged < 2 || !done();) {
    await sleep(SAMPLE_MS);
    unchanged = take() ? 0 : unchanged + 1;
  }
}

function take(): boolean {
  const shot = screenShot(terminal.screen.terminal, SAMPLE_MS);
  const last = shots.at(-1);
  if (last && JSON.stringify({ ...last, ms: 0 }) === JSON.stringify({ ...shot, ms: 0 })) {
    last.ms = Math.min(LONGEST_MS, last.ms + SAMPLE_MS);
    return false;
  }
  shots.push(shot);
  return true;
}

function hold(ms: number): void {
  shots.at(-1)!.ms = ms;
}
