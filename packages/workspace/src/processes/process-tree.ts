import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** How long what was asked to end may take for it. */
export const TERM_MS = 500;
/** What even KILL does not end by then waits for the kernel, and nobody can wait for that. */
const KILL_MS = 1_000;
const LOOK_MS = 15;

/** A command and everything that it started. */
export interface Tree {
  mark: string;
  /** The process group of the command itself. */
  group: number;
}

interface Process {
  pid: number;
  group: number;
  /** How many pid namespaces it is in. */
  depth: number;
}

/** Asks everything to end, then makes it. Settles when it is gone. */
export async function endTree(tree: Tree): Promise<void> {
  const now = living(tree);
  // In a sandbox only what runs inside is asked: its keeper would take the rest along at once.
  const deepest = Math.max(...now.map(({ depth }) => depth));
  const asked = now.filter(({ depth }) => depth === deepest);
  if (deepest === 1 || now.length === 0) signal(-tree.group, "SIGTERM");
  for (const { pid, group } of asked) if (deepest > 1 || group !== tree.group) signal(pid, "SIGTERM");
  if (await gone(tree, TERM_MS)) return;

  const until = performance.now() + KILL_MS;
  do {
    signal(-tree.group, "SIGKILL");
    for (const { pid } of living(tree)) signal(pid, "SIGKILL");
  } while (!(await gone(tree, LOOK_MS)) && performance.now() < until);
}

/** Whether nothing of the tree is left, by `ms` from now. */
export async function gone(tree: Tree, ms: number): Promise<boolean> {
  const until = performance.now() + ms;
  for (;;) {
    if (!alive(tree)) return true;
    if (performance.now() >= until) return false;
    await sleep(LOOK_MS);
  }
}

const linux = process.platform === "linux";

const alive = (tree: Tree): boolean => (linux ? living(tree).length > 0 : signal(-tree.group, 0));

/** Whether there was somebody to get it. What belongs to another user is not ours to end. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

function living({ mark }: Tree): Process[] {
  if (!linux) return [];
  const found: Process[] = [];
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!(pid > 0) || !carries(pid, mark)) continue;
    const process = look(pid);
    if (process && signal(pid, 0)) found.push(process);
  }
  return found;
}

const lines = Buffer.alloc(4096);

function carries(pid: number, mark: string): boolean {
  return contains(`/proc/${pid}/limits`, mark) || contains(`/proc/${pid}/environ`, mark);
}

/** In small steps through one buffer, because it is asked of every process of the machine. */
function contains(path: string, text: string): boolean {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return false;
  }
  try {
    for (let kept = 0; ;) {
      const read = readSync(file, lines, kept, lines.length - kept, null);
      if (read === 0) return false;
      if (lines.subarray(0, kept + read).includes(text, 0, "latin1")) return true;
      const overlap = Math.min(kept + read, text.length);
      lines.copyWithin(0, kept + read - overlap, kept + read);
      kept = overlap;
    }
  } catch {
    return false;
  } finally {
    closeSync(file);
  }
}

/** `undefined`: it is gone, or only waits for its parent to notice. */
function look(pid: number): Process | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state = "", , group = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return undefined;
    const ids = /^NSpid:\s*(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? "";
    return { pid, group: Number(group), depth: ids.split(/\s+/).length };
  } catch {
    return undefined;
  }
}
