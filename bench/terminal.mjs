/**
 * node -C @cinch/source bench/terminal.mjs [--rows TEXT] [--reps 9] [--seconds 15]
 *
 * The terminal app in a pseudo-terminal of 80 × 24, on the real harness, store and workspace; only the model is scripted. What each row must
 * reach stands beside it. CPU time and bytes mean the same beside other load; times do not, so the load is printed too.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { answer } from "./lib/terminal/answer.mjs";
import { MeasuredProcess } from "./lib/terminal/measured-process.mjs";
import { DELTA_CHARS, DELTAS_A_SECOND } from "./lib/terminal/stream.mjs";
import { median } from "./lib/numbers.mjs";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "" },
    reps: { type: "string", default: "9" },
    seconds: { type: "string", default: "15" },
  },
});
const reps = Number(values.reps);
/** As long without keys as with them. */
const seconds = Number(values.seconds);
const APP = join(import.meta.dirname, "lib/terminal/app.mjs");
const BIN = join(import.meta.dirname, "../apps/cli/bin.js");
const SOURCE = ["-C", "@cinch/source"];
/** What the machine alone makes of a key. */
const ECHO =
  'process.stdin.setRawMode(true).on("data", (key) => process.stdout.write(key)); process.stdout.write("ready");';
/** Ctrl-U. */
const CLEAR = "\u0015";
/** Letters that nothing else on the screen has. */
const letter = (count) => String.fromCodePoint(0x410 + (count % 32));
const PASTE = "some words of a paste, which are many\n".repeat(2_700);
const base = realpathSync(mkdtempSync(join(tmpdir(), "cinch-terminal-")));

const rows = [
  { name: "streaming", run: streaming },
  { name: "paste", run: paste },
  { name: "start", run: start },
  { name: "opening", run: opening },
];
console.log("| row | measured | must reach |\n|---|---|---|");
try {
  for (const { name, run } of rows) if (name.includes(values.rows)) await run();
} finally {
  rmSync(base, { recursive: true });
}
const load = loadavg().map((one) => one.toFixed(1));
console.log(`\nNode ${process.version}, load ${load.join(", ")}`);

async function streaming() {
  const place = folderWith(2_000);
  const characters = 2 * seconds * DELTAS_A_SECOND * DELTA_CHARS;
  using app = new MeasuredProcess([...SOURCE, APP], { ...place, env: { ...place.env, CHARACTERS: characters } });
  await app.composer();
  await sleep(1_000);
  app.type("go\r");
  await app.until((data) => data.includes("Esc stops"));
  // The first seconds compile.
  await sleep(1_000);
  const silent = await app.measured(() => sleep((seconds - 2) * 1_000));
  using echo = new MeasuredProcess(["-e", ECHO], place);
  await echo.until((data) => data.includes("ready"));
  const delays = [];
  const echoes = [];
  const until = performance.now() + (seconds - 1) * 1_000;
  for (let count = 0; performance.now() < until; count++) {
    await sleep(60);
    delays.push(await app.echoed(letter(count)));
    echoes.push(await echo.echoed(letter(count)));
    if (count % 40 === 39) app.type(CLEAR);
  }
  app.type(CLEAR);
  await sleep(6_000);
  const idle = await app.measured(() => sleep(10_000));
  const memory = app.peakMB();
  await app.leave();
  const [{ keys, blocks }] = resultsIn(place);
  const sent = silent.seconds * DELTAS_A_SECOND;
  report("200 deltas/s of Markdown and code under 2,000 messages", [
    [`CPU ${silent.cpuMsPerS.toFixed(0)} ms/s`, "200 ms/s"],
    [`${(silent.bytes / sent).toFixed(0)} bytes a delta`, "250"],
    [app.hasCleared ? "cleared" : "never cleared", "no clear"],
    [counted(await app.scrollback(), answer(characters).words), "each word once"],
    [`memory ${memory.toFixed(0)} MB`, ""],
  ]);
  report("a key meanwhile", [
    [`${ms(delays)}, of ${delays.length}; of a program that only echoes ${ms(echoes)}`, "p99 33 ms"],
    [`in the process ${ms(keys)}; behind other work of at most ${Math.max(...blocks).toFixed(1)} ms of CPU`, ""],
  ]);
  report("idle", [[`${idle.bytes} bytes, CPU ${idle.cpuMsPerS.toFixed(1)} ms/s`, "0 bytes, 5 ms/s"]]);
}

async function paste() {
  const delays = [];
  const labels = [];
  const place = folderWith(2);
  for (let rep = 0; rep < reps; rep++) {
    using app = new MeasuredProcess([...SOURCE, APP], place);
    await app.composer();
    await sleep(300);
    const from = performance.now();
    app.type(`\u001b[200~${PASTE}\u001b[201~`);
    labels.push((await app.until((data) => data.includes("[paste"))) - from);
    delays.push(await app.echoed(letter(rep)));
    await app.leave();
  }
  const inside = resultsIn(place).map(({ keys }) => Math.max(...keys));
  report("key after a paste of 100 kB", [
    [ms(delays), "50 ms"],
    [`the paste itself ${ms(labels)}; its slowest piece, in the process: ${ms(inside)}`, ""],
  ]);
}

async function start() {
  for (const [how, args] of builds()) {
    const times = [];
    for (let rep = 0; rep <= reps; rep++)
      times.push(await started([...args, BIN, "--model", "offline"], emptyFolder()));
    reportStart(`start to composer, ${how}`, times, "0.6 s");
  }
}

async function opening() {
  const place = folderWith(5_000);
  for (const [how, args] of builds()) {
    const times = [];
    const command = [...args, BIN, "--model", "offline", "--continue"];
    for (let rep = 0; rep <= reps; rep++) times.push(await started(command, place));
    const { lines } = times.at(-1);
    const newest = lines.some((line) => line.includes("Answer 2500.")) ? "with" : "WITHOUT";
    reportStart(`with a thread of 5,000 messages, ${how}`, times, "1 s, 200 MB");
    report("", [[`${lines.length} lines are printed, ${newest} the newest message`, ""]]);
  }
}

async function started(args, place) {
  using app = new MeasuredProcess(args, place);
  const shown = await app.composer();
  const cpu = app.cpuMs();
  const wall = shown - app.startedAt;
  await sleep(300);
  const memory = app.peakMB();
  await app.leave();
  return { wall, cpu, memory, lines: await app.scrollback() };
}

/** The first start may fill the compile cache. */
function reportStart(name, [first, ...times], must) {
  const of = (field) => median(times.map((one) => one[field]));
  const slowest = Math.max(...times.map(({ wall }) => wall));
  report(name, [
    [`${of("wall").toFixed(0)} ms (slowest ${slowest.toFixed(0)}), CPU ${of("cpu").toFixed(0)} ms`, must],
    [`memory ${of("memory").toFixed(0)} MB`, ""],
    [`the first start ${first.wall.toFixed(0)} ms`, ""],
  ]);
}

function builds() {
  const built = existsSync(join(import.meta.dirname, "../apps/cli/dist/main.js"));
  return [["from source", SOURCE], ...(built ? [["built", []]] : [])];
}

/** A project with a thread of so many messages, filled by the app's own harness. */
function folderWith(messages) {
  const place = emptyFolder();
  const { status, stderr } = spawnSync(process.execPath, [...SOURCE, APP, "fill", messages], {
    ...place,
    env: { PATH: process.env.PATH, ...place.env },
  });
  if (status !== 0) throw new Error(`The thread was not filled:\n${stderr}`);
  return place;
}

function emptyFolder() {
  const root = mkdtempSync(join(base, "place-"));
  const cwd = join(root, "project");
  mkdirSync(cwd);
  const env = { HOME: root, LANG: "C.UTF-8", TERM: "xterm-256color", RESULTS: join(root, "results.jsonl") };
  return { cwd, env: { ...env, NODE_COMPILE_CACHE: join(base, "compile-cache") } };
}

/** What each process of the app has measured itself. */
function resultsIn({ env }) {
  const lines = readFileSync(env.RESULTS, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** How often the words of the answer stand there. */
function counted(lines, words) {
  const counts = new Map();
  for (const [word] of lines.join("\n").matchAll(/[a-z]+/g)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const missing = words.filter((word) => !counts.has(word)).length;
  const twice = words.filter((word) => counts.get(word) > 1).length;
  return `${words.length} words: ${missing} missing, ${twice} more than once`;
}

function report(name, results) {
  for (const [at, [measured, must]] of results.entries())
    console.log(`| ${at === 0 ? name : ""} | ${measured} | ${must} |`);
}

function ms(delays) {
  const sorted = delays.toSorted((a, b) => a - b);
  const p99 = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))];
  return `median ${median(sorted).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
}
