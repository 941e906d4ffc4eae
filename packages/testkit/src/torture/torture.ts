import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { durableTypes, type DurableType } from "@cinch/core";
import { positions } from "./crash-point.ts";
import { look, problemsAfterCrash, problemsAtEnd, type Finding } from "./oracle.ts";

/** Where a process is killed: an event of the map, and where on its way. A new durable event joins the list by itself. */
export function crashPoints(): string[] {
  const first = durableTypes.flatMap((type) => positions.map((position) => `${type}:${position}`));
  const later = LATER.flatMap((type) => positions.map((position) => `${type}:${position}:3`));
  const answers = ANSWERS.flatMap(([type, nth]) => [`${type}:inside:${nth}`, `${type}:after:${nth}`]);
  return [...first, ...later, ...answers];
}

/** These come several times, and mean something else each time. */
const LATER: readonly DurableType[] = ["message_end", "tool_start", "tool_end", "agent_start"];

/** What is answered after the first time: a plan, and what it leads to; arguments that are changed, a no with a reason and one without. */
const ANSWERS: readonly [DurableType, nth: number][] = [
  ["tool_resumed", 2],
  ["mode_changed", 2],
  ["tool_approval_resolved", 2],
  ["tool_approval_resolved", 4],
  ["tool_approval_resolved", 5],
];

/** What comes in the second half of the scenario only, and from which time on. Other points are spared that half. */
const CONTROL: { readonly [type: string]: number | undefined } = {
  tool_approval_required: 1,
  tool_approval_resolved: 1,
  mode_changed: 1,
  model_changed: 1,
  state_changed: 1,
  grant_added: 1,
  task_updated: 1,
  tool_resumed: 2,
};

function isControl(point: string): boolean {
  const [type = "", , nth = "1"] = point.split(":");
  return Number(nth) >= (CONTROL[type] ?? Infinity);
}

export interface Verdict {
  points: string[];
  problems: string[];
}

const child = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "./child.ts" : "./child.js", import.meta.url));
const LIMIT_MS = 30_000;

/** Kills a process at each of these points in turn, then lets the next one go on to the end, and asks the oracle each time. */
export async function torture(points: string[]): Promise<Verdict> {
  const folder = mkdtempSync(join(tmpdir(), "cinch-torture-"));
  const problems: string[] = [];
  const half = points.some(isControl) ? [] : ["half"];
  const run = (crashAt?: string) => runChild([folder, ...half], crashAt);
  try {
    let before: Finding | undefined;
    for (const point of points) {
      const { signal, output } = await run(point);
      if (signal !== "SIGKILL") problems.push(`${point} was not reached (${signal ?? "ended"}) ${output}`);
      const now = look(folder);
      problems.push(...problemsAfterCrash(folder, now, before));
      before = now;
    }
    const { signal, output } = await run();
    if (signal || output) problems.push(`the last process ended with ${signal ?? "an error"}: ${output}`);
    problems.push(...problemsAfterCrash(folder, look(folder), before), ...(await problemsAtEnd(folder)));
    return { points, problems };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runChild(args: string[], crashAt?: string): Promise<{ signal: string | null; output: string }> {
  const { CRASH_AT: _, ...env } = process.env;
  const options = {
    env: crashAt ? { ...env, CRASH_AT: crashAt } : env,
    stdio: ["ignore", "ignore", "pipe"] as ["ignore", "ignore", "pipe"],
  };
  const running = spawn(
    process.execPath,
    [...process.execArgv.filter((arg) => !arg.startsWith("--test")), child, ...args],
    options,
  );
  let output = "";
  running.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const timer = setTimeout(() => running.kill("SIGTERM"), LIMIT_MS);
  return new Promise((resolve) => {
    running.on("close", (_code, signal) => {
      clearTimeout(timer);
      resolve({ signal, output });
    });
  });
}

/** Tortures all of these lists of points, as many at a time as there are cores to use. */
export async function tortureAll(
  lists: string[][],
  { cores = 2, told }: { cores?: number; told?: (verdict: Verdict) => void } = {},
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  const queue = [...lists];
  const worker = async () => {
    for (let points = queue.shift(); points; points = queue.shift()) {
      const verdict = await torture(points);
      verdicts.push(verdict);
      told?.(verdict);
    }
  };
  await Promise.all(Array.from({ length: cores }, worker));
  return verdicts;
}
