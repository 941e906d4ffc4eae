/**
 * node -C @cinch/source bench/screen.mjs [SECONDS]
 *
 * The screen of the terminal app alone, from its sources, in a pseudo-terminal of 80 × 24: 2,000 messages are printed, then an answer of
 * code comes in at 200 deltas a second, while keys are typed. Measured are the CPU time and the bytes of the process that draws, and how
 * long a key takes until it is seen.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pty from "@lydell/node-pty";

const seconds = process.argv[2] ?? "10";
const folder = mkdtempSync(join(tmpdir(), "cinch-screen-"));
const result = join(folder, "result.json");
const program = join(import.meta.dirname, "lib/streaming.mjs");
const child = pty.spawn(process.execPath, ["-C", "@cinch/source", program, seconds], {
  cols: 80,
  rows: 24,
  env: { ...process.env, RESULT: result, NO_COLOR: "", LANG: "C.UTF-8" },
});
const state = { exited: false };
let cleared = false;
let echo = () => {};
const delays = [];
child.onExit(() => (state.exited = true));
child.onData((data) => {
  cleared ||= /\[[23]J/.test(data);
  echo(data);
  // The question about attributes, which every terminal answers.
  if (data.includes("\u001b[c")) child.write("\u001b[?62c");
});

await sleep(4_500);
for (let count = 0; !state.exited; count++) {
  await sleep(150);
  delays.push(await typed(String.fromCodePoint(0x410 + (count % 32))));
}
const { idle, streaming, keyMs, rssMB } = JSON.parse(readFileSync(result, "utf8"));
rmSync(folder, { recursive: true });
const seen = delays.filter(Number.isFinite).toSorted((a, b) => a - b);
const inside = keyMs.toSorted((a, b) => a - b);
console.log(
  `200 deltas/s: CPU ${streaming.cpuMsPerS.toFixed(0)} ms/s, ${(streaming.bytes / streaming.deltas).toFixed(0)} bytes a delta (${streaming.deltas} deltas)`,
);
console.log(
  `a key meanwhile: median ${quantile(seen, 0.5)} ms, p99 ${quantile(seen, 0.99)} ms, of ${seen.length}; in the process p99 ${quantile(inside, 0.99)} ms`,
);
console.log(
  `idle: ${idle.bytes} bytes, CPU ${idle.cpuMsPerS.toFixed(1)} ms/s; memory ${rssMB.toFixed(0)} MB; cleared: ${cleared}`,
);

function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]?.toFixed(1);
}

/** How long it takes until the terminal gets this letter. */
async function typed(letter) {
  const from = performance.now();
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(Infinity), 1_000);
    echo = (data) => {
      if (!data.includes(letter)) return;
      clearTimeout(timer);
      resolve(performance.now() - from);
    };
    child.write(letter);
  });
}
