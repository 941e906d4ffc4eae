/** The cost of recording what a command changes: snapshots of 5,000 files before and after it, as `execute` takes them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { median } from "../lib/numbers.mjs";

const root = process.env.CINCH_ROOT ?? join(import.meta.dirname, "../..");
const built = join(root, "packages/workspace/dist/index.js");
const FOLDERS = 100;
const FILES = 50;

export default async function undo({ folder, now, times = 9 }) {
  const { localWorkspace } = await import(pathToFileURL(built).href);
  const place = join(folder, "workspace");
  for (let at = 0; at < FOLDERS; at++) {
    mkdirSync(join(place, "src", `part${at}`), { recursive: true });
    for (let no = 0; no < FILES; no++) writeFileSync(fileAt(place, at, no), `export const x = ${at};\n`.repeat(200));
  }
  const recorded = [];
  const files = {
    resourceId: "bench",
    seen: () => undefined,
    checkpoint: async () => {},
    record: async (decide) => recorded.push(...decide({})) > 0,
  };
  const { signal } = new AbortController();
  const watched = async (workspace, change = () => {}) => {
    const from = now();
    const watch = await workspace.undo.watch({ threadId: "t", files }, signal);
    const before = now() - from;
    change();
    const middle = now();
    await watch.end();
    return { before, after: now() - middle };
  };
  const open = () => localWorkspace({ root: place, sandbox: "none", cache: join(folder, "cache") });
  const first = open();
  const { before: firstMs } = await watched(first);
  const snapshots = [];
  for (let turn = 0; turn < times; turn++) snapshots.push(await watched(first));
  const changed = [];
  for (let turn = 0; turn < times; turn++) {
    const change = () => {
      for (let no = 0; no < 10; no++) writeFileSync(fileAt(place, no, turn), `changed ${turn}\n`);
    };
    changed.push((await watched(first, change)).after);
  }
  if (recorded.length !== times * 10) throw new Error(`${recorded.length} changes were recorded`);
  await first.close();
  const next = open();
  const { before: nextMs } = await watched(next);
  await next.close();
  const durations = snapshots.flatMap(({ before, after }) => [before, after]);
  return {
    firstMs,
    snapshotMs: median(durations),
    worstMs: Math.max(...durations),
    changedMs: median(changed),
    nextMs,
  };
}

const fileAt = (place, at, no) => join(place, "src", `part${at}`, `file${no}.ts`);
