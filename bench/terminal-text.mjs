/**
 * node -C @cinch/source bench/terminal-text.mjs
 *
 * What the terminal app spends on Markdown, code, diffs and keys: CPU time of this process, so that other load on the machine counts less.
 * Medians of nine runs after a first one, which is printed too where loading matters.
 */
import { readFileSync } from "node:fs";
import { edit, emptyEditor } from "../apps/cli/src/composer/editor.ts";
import { diffHunks, diffLineList, inPieces } from "../apps/cli/src/text/diff.ts";
import { Highlighter } from "../apps/cli/src/text/highlight.ts";
import { lineChanges } from "../packages/workspace/src/diffs/line-changes.ts";
import { unifiedDiff } from "../packages/workspace/src/diffs/unified-diff.ts";
import { MarkdownStream } from "../apps/cli/src/text/markdown.ts";

const RUNS = 9;
const DELTAS = 8_220;
/** A stream of 200 deltas a second, drawn 60 times a second. */
const DELTAS_A_FRAME = 3;
/** Counts texts, so that each is another. */
let texts = 0;

const answer = readFileSync(new URL("../apps/cli/test/text/golden/answer.md", import.meta.url), "utf8");
const code = readFileSync(new URL("../packages/core/src/thread/child-run.ts", import.meta.url), "utf8")
  .split("\n")
  .slice(0, 100);

const deltas = [];
for (let at = 0; deltas.length < DELTAS; at = (at + 4) % answer.length) deltas.push(answer.slice(at, at + 4));

const rows = [
  ["Markdown and code, 8,220 deltas, without frames", () => stream(Infinity)],
  ["the same, what is live drawn after every third", () => stream(DELTAS_A_FRAME)],
  ["the same, after each", () => stream(1)],
  ["100 lines of TypeScript, line by line", highlight],
  ["diff of 8,000 lines, 400 changed, with words", diff],
  ["diff of 50,000 lines, 2,500 changed, up to the first change", firstChange],
  ["the longest piece while 50,000 changed lines are shown", longestPiece],
  ["key after a paste of 100 kB", keyAfterPaste],
  ["key in a text of 100 kB", keyInText],
];
console.log("| what | CPU ms | first run |\n|---|---|---|");
for (const [name, run] of rows) {
  const first = await cpu(run);
  const times = [];
  for (let at = 0; at < RUNS; at++) times.push(await cpu(run));
  console.log(`| ${name} | ${median(times).toFixed(2)} | ${first.toFixed(2)} |`);
}

function stream(deltasAFrame) {
  const markdown = new MarkdownStream({ width: 80, wrap: "words" });
  for (const [index, delta] of deltas.entries()) {
    markdown.push(delta);
    if (index % deltasAFrame === 0) markdown.live();
  }
  markdown.end();
}

function highlight() {
  const highlighter = new Highlighter("ts");
  for (const line of code) highlighter.line(line);
}

async function diff() {
  const before = Array.from({ length: 8_000 }, (_, at) => `const value${at} = compute(${at}, "text");`);
  const after = before.map((line, at) => (at % 20 === 0 ? line.replace("compute", "calculate") : line));
  const side = (lines) => ({ path: "/values.ts", text: lines.join("\n") });
  Array.from(diffLineList(diffHunks(await unifiedDiff(side(before), side(after)))));
}

async function firstChange() {
  const before = Array.from({ length: 50_000 }, (_, at) => `const value${at} = compute(${at}, "text");`);
  const after = before.map((line, at) => (at % 20 === 10 ? line.replace("compute", "calculate") : line));
  const start = process.cpuUsage();
  await lineChanges(before, after).next();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

function keyAfterPaste() {
  const pasted = edit(emptyEditor, { type: "paste", text: "some words\n".repeat(10_000) }, 80);
  edit(pasted, { type: "insert", text: "x" }, 80);
}

function keyInText() {
  const state = edit(emptyEditor, { type: "set", text: `some words 漢字 ${texts++}\n`.repeat(6_000) }, 80);
  edit(edit(state, { type: "insert", text: "x" }, 80), { type: "up" }, 80);
}

/** The CPU time of the longest piece. */
async function longestPiece() {
  const lines = Array.from({ length: 50_000 }, (_, at) =>
    at % 2 ? `+const value${at} = 0;` : `-const value${at} = ${at};`,
  );
  let longest = 0;
  let start = process.cpuUsage();
  for await (const piece of inPieces(diffLineList([{ oldStart: 1, newStart: 1, lines }]))) {
    const { user, system } = process.cpuUsage(start);
    if (piece.length > 0) longest = Math.max(longest, (user + system) / 1_000);
    start = process.cpuUsage();
  }
  return longest;
}

async function cpu(run) {
  const start = process.cpuUsage();
  const measured = await run();
  if (typeof measured === "number") return measured;
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
