/** The process that `screen.mjs` measures. It writes its result as JSON to the file RESULT. */
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { featuresOf } from "../../apps/cli/src/terminal/features.ts";
import { Keyboard } from "../../apps/cli/src/terminal/keyboard.ts";
import { line, text } from "../../apps/cli/src/terminal/line.ts";
import { TerminalModes } from "../../apps/cli/src/terminal/modes.ts";
import { Screen } from "../../apps/cli/src/terminal/screen.ts";
import { ttyInput, TtyOutput } from "../../apps/cli/src/terminal/tty.ts";
import { prose } from "./prose.mjs";

const SECONDS = Number(process.argv[2]);
const DELTAS_A_SECOND = 200;
const MESSAGES = 2_000;
const SPINNER = [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"];
const clock = {
  now: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

let bytes = 0;
const tty = new TtyOutput(process.stdout, { onError: () => process.exit(1) });
const output = {
  size: () => tty.size(),
  writeNow: (data) => tty.writeNow(data),
  onResize: (listener) => tty.onResize(listener),
  write(data, done) {
    bytes += Buffer.byteLength(data);
    tty.write(data, done);
  },
};

let printed = [];
let open = "";
let typed = "";
let spinning = 0;
const keyMs = [];
/** As a line of highlighted code: a few spans of different styles. */
const code = (row) => ({
  spans: row
    .split(/(\W)/)
    .map((word, at) => ({ text: text(word), style: at % 4 === 0 ? { color: "cyan" } : undefined })),
});
const screen = new Screen({
  output,
  clock,
  features: featuresOf(process.env),
  frame({ columns }) {
    const rule = line("─".repeat(columns - 1), { dim: true });
    const live = [
      code(open),
      line(`${SPINNER[spinning % SPINNER.length]} anthropic answers · ${Math.floor(spinning / 12)} s · Esc stops`),
      rule,
      line(`> ${typed}`),
      rule,
      line("build · sonnet-5 · 41k tok · 83 % cached · $0.12/2 · main"),
    ];
    const frame = { print: printed, live, cursor: { row: 3, column: 2 + typed.length } };
    printed = [];
    return frame;
  },
});
const modes = new TerminalModes({ input: ttyInput(process.stdin), output, clock, screen });
const keyboard = new Keyboard({ input: ttyInput(process.stdin), clock, unicode: true, on });

for (let at = 0; at < MESSAGES; at++) printed.push(line(`You  message ${at}`, { bold: true }), line(`answer ${at}`));
screen.draw();
await sleep(1_000);

const source = prose(1, 200_000).replaceAll("\n", " ");
const spinner = setInterval(() => {
  spinning++;
  screen.request();
}, 80);
const idle = await measured(2, async () => clearInterval(spinner));
const streaming = await measured(SECONDS, stream);
clearInterval(spinner);
writeFileSync(
  process.env.RESULT,
  JSON.stringify({ idle, streaming, keyMs, rssMB: process.memoryUsage().rss / 2 ** 20 }),
);
keyboard[Symbol.dispose]();
modes[Symbol.dispose]();
process.exit(0);

function on(event) {
  modes.answer(event);
  const from = performance.now();
  if (event.type === "text") typed = typed.length < 60 ? typed + event.text : event.text;
  screen.draw();
  keyMs.push(performance.now() - from);
}

/** Some deltas arrive together, as from a network. */
async function stream(until) {
  const from = performance.now();
  const spin = setInterval(() => {
    spinning++;
    screen.request();
  }, 80);
  let at = 0;
  let deltas = 0;
  while (performance.now() < until) {
    for (const due = ((performance.now() - from) / 1_000) * DELTAS_A_SECOND; deltas < due; deltas++) {
      add(source.slice(at, at + 5));
      at += 5;
      screen.request();
    }
    await sleep(5);
  }
  clearInterval(spin);
  return deltas;
}

function add(delta) {
  open += delta;
  while (open.length > 76) {
    const end = open.lastIndexOf(" ", 76);
    printed.push(code(open.slice(0, end)));
    open = open.slice(end + 1);
  }
}

async function measured(seconds, work) {
  const before = bytes;
  const cpu = process.cpuUsage();
  const from = performance.now();
  const until = from + seconds * 1_000;
  const deltas = await work(until);
  await sleep(Math.max(0, until - performance.now()));
  const { user, system } = process.cpuUsage(cpu);
  const passed = (performance.now() - from) / 1_000;
  return { cpuMsPerS: (user + system) / 1_000 / passed, bytes: bytes - before, deltas };
}
