/**
 * node bench/run.mjs [--peers all|NAME,…] [--rows TEXT] [--reps 5]
 *
 * Every measurement is a fresh process. Products are interleaved within a repetition, so that other load on the machine
 * affects all of them. Without --peers, only the peers that a target is relative to are measured beside Cinch.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installed } from "./lib/install.mjs";
import { inFolder, measure } from "./lib/measure.mjs";
import { US, products } from "./lib/products.mjs";
import { Results } from "./lib/results.mjs";
import { rows } from "./lib/rows.mjs";
import { ownTable, peerTable } from "./lib/table.mjs";

const { values } = parseArgs({
  options: { peers: { type: "string" }, rows: { type: "string", default: "" }, reps: { type: "string", default: "5" } },
});
const reps = Number(values.reps);
const wanted = rows.filter(({ name }) => name.includes(values.rows));
const performed = rows.filter(
  (row) => wanted.includes(row) || wanted.some(({ needs = [] }) => needs.includes(row.name)),
);
const peers = installed(peerNames());
const results = new Results();
const folder = join(import.meta.dirname, "results");
mkdirSync(folder, { recursive: true });
const file = join(folder, `${new Date().toISOString().replaceAll(":", "-")}.jsonl`);

for (let rep = 1; rep <= reps; rep++) {
  for (const row of performed) {
    if (row.once && rep > 1) continue;
    for (const run of row.runs) for (const product of besideUs(row, run)) await perform(product, run, rep);
  }
}

console.log(`\n${cpus().length} cores, Node ${process.version}, ${reps} repetitions, medians\n`);
console.log(ownTable(wanted, results));
if (values.peers) console.log(`\n${peerTable([US, ...peers], results)}`);

function peerNames() {
  const others = Object.keys(products).filter((name) => name !== US);
  if (values.peers === undefined) return others.filter((name) => wanted.some(({ beside }) => beside.includes(name)));
  return values.peers === "all" ? others : values.peers.split(",");
}

function besideUs({ beside }, { only, of }) {
  if (only) return [only];
  const all = [US, ...peers.filter((name) => values.peers || beside.includes(name))];
  return of ? all.filter((name) => of.includes(name)) : all;
}

/** One run, and the runs that continue with its files. */
async function perform(product, { key, scenario, parameters, next: following = [] }, rep) {
  await inFolder(async (data) => {
    const given = { ...parameters, folder: data };
    keep(product, key, rep, await measure(product, scenario, given));
    for (const next of following) keep(product, `${key}.${next}`, rep, await measure(product, next, given));
  });
}

function keep(product, key, rep, result) {
  results.add(product, key, result);
  const text = JSON.stringify({ rep, product, key, ...result });
  appendFileSync(file, `${text}\n`);
  console.error(text.slice(0, 200));
}
