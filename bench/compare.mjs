/**
 * node bench/compare.mjs DIR [--runs KEY,…] [--reps 15] [--base DIR] [--minutes N]
 *
 * Measures runs of the table (`key` in lib/rows.mjs) with the built packages of this checkout and of another one (DIR), by turns: each run is a process of its own, and
 * which of the two is first alternates. Prints the medians and the least of each number that means a time, and how far this checkout is from the
 * other. No repetition starts after N minutes.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { inFolder, measure } from "./lib/measure.mjs";
import { median } from "./lib/numbers.mjs";
import { US } from "./lib/products.mjs";
import { rows } from "./lib/rows.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: "string" },
    reps: { type: "string", default: "15" },
    base: { type: "string", default: join(import.meta.dirname, "..") },
    minutes: { type: "string", default: "600" },
  },
});
const [other] = positionals;
if (!other) {
  console.error("The other checkout is missing. Build it, then write: node bench/compare.mjs DIR [--runs KEY,…]");
  process.exit(1);
}
const roots = { other: resolve(other), this: resolve(values.base) };
const keys = values.runs?.split(",");
const runs = rows.flatMap((row) => row.runs).filter(({ key }) => !keys || keys.includes(key));
const until = performance.now() + Number(values.minutes) * 60_000;
const folder = join(import.meta.dirname, "results");
mkdirSync(folder, { recursive: true });
const file = join(folder, `compare-${new Date().toISOString().replaceAll(":", "-")}.jsonl`);
/** Of each number, by its name: what either checkout had. */
const taken = new Map();

for (let rep = 0; rep < Number(values.reps) && performance.now() < until; rep++)
  for (const run of runs)
    for (const which of rep % 2 ? ["this", "other"] : ["other", "this"]) await perform(which, run, rep);
console.log(
  "| number | runs | other: median, least | this: median, least | median | least |\n|---|---|---|---|---|---|",
);
for (const [name, by] of taken) if (by.this && by.other) console.log(lineOf(name, by));

/** One run, and the runs that continue with its files. */
async function perform(which, { key, scenario, parameters, next = [] }, rep) {
  await inFolder(async (data) => {
    const given = { ...parameters, folder: data };
    for (const [name, step] of [[key, scenario], ...next.map((after) => [`${key}.${after}`, after])]) {
      const result = await measure(US, step, given, { env: { CINCH_ROOT: roots[which] } });
      appendFileSync(file, `${JSON.stringify({ rep, which, key: name, ...result })}\n`);
      if (result.failed) console.error(`${which} ${name}: ${result.failed}`);
      for (const [field, value] of Object.entries(result))
        if (field.endsWith("Ms") && typeof value === "number") add(`${name} ${field}`, which, value);
    }
  });
}

function add(name, which, value) {
  if (!taken.has(name)) taken.set(name, {});
  (taken.get(name)[which] ??= []).push(value);
}

function lineOf(name, by) {
  const [before, after] = [by.other, by.this].map((all) => ({ middle: median(all), least: Math.min(...all) }));
  const change = (to, from) => `${((to / from - 1) * 100).toFixed(1)} %`;
  const shown = ({ middle, least }) => `${middle.toFixed(3)}, ${least.toFixed(3)}`;
  return `| ${name} | ${by.this.length} | ${shown(before)} | ${shown(after)} | ${change(after.middle, before.middle)} | ${change(after.least, before.least)} |`;
}
