import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { durableTypes } from "@cinch/core/journal";
import type { DurableType, Store } from "@cinch/core";
import { positions } from "./crash-point.ts";
import type { JournalRow } from "./control-oracle.ts";
import { inspectionOf, inspectStore, problemsAfterCrash, problemsAtEnd, type Inspection } from "./oracle.ts";

/** All events of the map at all positions, as `EVENT:POSITION[:N]`. A new durable event joins the list automatically. */
export function crashPoints(): string[] {
  const first = durableTypes.flatMap((type) => positions.map((position) => `${type}:${position}`));
  const later = REPEATED.flatMap((type) => positions.map((position) => `${type}:${position}:3`));
  const answers = ANSWERS.flatMap(([type, nth]) => [`${type}:inside:${nth}`, `${type}:after:${nth}`]);
  return [...first, ...later, ...answers];
}

/** These occur several times in the scenario, each time in another situation. */
const REPEATED: readonly DurableType[] = ["message_end", "tool_start", "tool_end", "agent_start"];

/** Answers after the first one: an approved plan and its mode, edited arguments, a decline with a reason and one without. */
const ANSWERS: readonly [DurableType, nth: number][] = [
  ["tool_resumed", 2],
  ["mode_changed", 2],
  ["tool_approval_resolved", 2],
  ["tool_approval_resolved", 4],
  ["tool_approval_resolved", 5],
];

/** From which occurrence on an event is in the second half of the scenario. Other points skip that half. */
const CONTROL_FROM: { readonly [type: string]: number | undefined } = {
  tool_approval_required: 1,
  tool_approval_resolved: 1,
  mode_changed: 1,
  model_changed: 1,
  state_changed: 1,
  grant_added: 1,
  task_updated: 1,
  tool_resumed: 2,
};

function needsControl(point: string): boolean {
  const [type = "", , nth = "1"] = point.split(":");
  return Number(nth) >= (CONTROL_FROM[type] ?? Infinity);
}

export interface Verdict {
  points: string[];
  problems: string[];
}

/** A store that is tortured instead of the one in `FOLDER/cinch.db`. */
export interface TorturedStore {
  /** All events, those that a rewind has reverted among them, by journal and `seq`. */
  rows(folder: string): Promise<JournalRow[]>;
  /** Not open yet. */
  store(folder: string): Store;
  dispose(folder: string): Promise<void>;
}

interface TortureOptions {
  /** The program that is killed, for example a bundle of it, which starts faster. It gets the folder, and `half` to skip a half. */
  child?: string;
  of?: TorturedStore;
  /** How long a process may take to play the scenario; default 30 s. */
  endMs?: number;
  /** How long it may take to continue a turn whose driver died; default 5 s. */
  settleMs?: number;
}

const CHILD = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "./child.ts" : "./child.js", import.meta.url));

/** Kills a process at each of these points in turn, then lets the next one run to the end. The oracle checks the store each time. */
export async function torture(points: string[], options: TortureOptions = {}): Promise<Verdict> {
  const { child = CHILD, of, endMs = 30_000, settleMs = 5_000 } = options;
  const folder = mkdtempSync(join(tmpdir(), "cinch-torture-"));
  const problems: string[] = [];
  const half = points.some(needsControl) ? [] : ["half"];
  const inspect = async () => (of ? inspectionOf(folder, await of.rows(folder)) : inspectStore(folder));
  const run = (crashAt?: string) => runChild([child, folder, ...half], { crashAt, endMs });
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
  leftovers.add(remove);
  try {
    let before: Inspection | undefined;
    for (const point of points) {
      const { signal, output } = await run(point);
      if (signal !== "SIGKILL") problems.push(`${point} was not reached (${signal ?? "ended"}) ${output}`);
      const now = await inspect();
      problems.push(...problemsAfterCrash(folder, now, before));
      before = now;
    }
    const { signal, output } = await run();
    if (signal || output) problems.push(`the last process ended with ${signal ?? "an error"}: ${output}`);
    problems.push(...problemsAfterCrash(folder, await inspect(), before));
    problems.push(...(await problemsAtEnd(folder, { store: of?.store(folder), settleMs })));
    return { points, problems };
  } finally {
    await of?.dispose(folder);
    remove();
    leftovers.delete(remove);
  }
}

/** What removes the folders and processes of unfinished tortures. */
const leftovers = new Set<() => void>();

/** For a program that exits in the middle of `torture`. */
export function removeLeftovers(): void {
  for (const remove of [...leftovers].toReversed()) remove();
}

function runChild(
  args: string[],
  { crashAt, endMs }: { crashAt: string | undefined; endMs: number },
): Promise<{ signal: string | null; output: string }> {
  const { CRASH_AT: _, ...env } = process.env;
  const options = {
    env: crashAt ? { ...env, CRASH_AT: crashAt } : env,
    stdio: ["ignore", "ignore", "pipe"] as ["ignore", "ignore", "pipe"],
  };
  const running = spawn(
    process.execPath,
    [...process.execArgv.filter((arg) => !arg.startsWith("--test")), ...args],
    options,
  );
  const kill = () => void running.kill("SIGKILL");
  leftovers.add(kill);
  let output = "";
  running.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const timer = setTimeout(() => running.kill("SIGTERM"), endMs);
  return new Promise((resolve) => {
    running.on("close", (_code, signal) => {
      clearTimeout(timer);
      leftovers.delete(kill);
      resolve({ signal, output });
    });
  });
}

/** Runs `torture` for each list of points, `cores` of them at a time. */
export async function tortureAll(
  lists: string[][],
  {
    cores = 2,
    onVerdict,
    ...options
  }: TortureOptions & { cores?: number; onVerdict?: (verdict: Verdict) => void } = {},
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  const queue = [...lists];
  const worker = async () => {
    for (let points = queue.shift(); points; points = queue.shift()) {
      const verdict = await torture(points, options);
      verdicts.push(verdict);
      onVerdict?.(verdict);
    }
  };
  await Promise.all(Array.from({ length: cores }, worker));
  return verdicts;
}
