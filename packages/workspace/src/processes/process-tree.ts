import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** How long processes may take to end after TERM. */
export const TERM_MS = 500;
/** A process that has not ended this long after KILL hangs in the kernel, and is not waited for. */
const KILL_MS = 1_000;
const POLL_MS = 15;

/** A command and everything that it started. */
export interface ProcessTree {
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

/** Sends TERM, then KILL. Settles when all processes are gone. */
export async function endTree(tree: ProcessTree): Promise<void> {
  const now = processesOf(tree);
  // In a sandbox only the processes inside get TERM: the sandbox itself would end them at once.
  const deepest = Math.max(...now.map(({ depth }) => depth));
  const inside = now.filter(({ depth }) => depth === deepest);
  if (deepest === 1 || now.length === 0) signal(-tree.group, "SIGTERM");
  for (const { pid, group } of inside) if (deepest > 1 || group !== tree.group) signal(pid, "SIGTERM");
  if (await waitUntilGone(tree, TERM_MS)) return;

  const until = performance.now() + KILL_MS;
  do {
    signal(-tree.group, "SIGKILL");
    for (const { pid } of processesOf(tree)) signal(pid, "SIGKILL");
  } while (!(await waitUntilGone(tree, POLL_MS)) && performance.now() < until);
}

/** Whether all processes of the tree are gone, after `ms` at the latest. */
export async function waitUntilGone(tree: ProcessTree, ms: number): Promise<boolean> {
  const until = performance.now() + ms;
  for (;;) {
    if (!isAlive(tree)) return true;
    if (performance.now() >= until) return false;
    await sleep(POLL_MS);
  }
}

const isLinux = process.platform === "linux";

const isAlive = (tree: ProcessTree): boolean => (isLinux ? processesOf(tree).length > 0 : signal(-tree.group, 0));

/** Whether a process of this user received it. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

function processesOf({ mark }: ProcessTree): Process[] {
  if (!isLinux) return [];
  const pids = readdirSync("/proc").map(Number);
  const marked = pids.filter(
    (pid) => pid > 0 && (contains(`/proc/${pid}/limits`, mark) || contains(`/proc/${pid}/environ`, mark)),
  );
  return marked.flatMap(readProcess).filter(({ pid }) => signal(pid, 0));
}

const buffer = Buffer.alloc(4096);

/** Reads in small steps through one buffer, because this is called for every process of the machine. */
function contains(path: string, text: string): boolean {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return false;
  }
  try {
    for (let kept = 0; ;) {
      const read = readSync(file, buffer, kept, buffer.length - kept, null);
      if (read === 0) return false;
      if (buffer.subarray(0, kept + read).includes(text, 0, "latin1")) return true;
      const overlap = Math.min(kept + read, text.length);
      buffer.copyWithin(0, kept + read - overlap, kept + read);
      kept = overlap;
    }
  } catch {
    return false;
  } finally {
    closeSync(file);
  }
}

/** Empty if the process is gone, or a zombie. */
function readProcess(pid: number): Process[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state = "", , group = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return [];
    const ids = /^NSpid:\s*(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? "";
    return [{ pid, group: Number(group), depth: ids.split(/\s+/).length }];
  } catch {
    return [];
  }
}
