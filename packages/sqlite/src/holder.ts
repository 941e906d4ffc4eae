import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Who holds leases: one per store object. With these four, a process on the same machine can be told dead at once. */
export interface Holder {
  boot: string;
  pidns: string;
  pid: number;
  start: string;
}

/** Where there is no /proc, a pid may have been given to another process meanwhile: then only the counter tells. */
export function thisHolder(): Holder {
  const proc = procIdentity();
  return { pid: process.pid, ...(proc ?? { boot: hostname(), pidns: "", start: "" }) };
}

function procIdentity(): Omit<Holder, "pid"> | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const start = startOf(process.pid);
    return start === undefined ? undefined : { boot, pidns: readlinkSync("/proc/self/ns/pid"), start };
  } catch (error) {
    if (hasCode(error, ["ENOENT", "EACCES", "EPERM"])) return undefined;
    throw error;
  }
}

/** True only if that process is certainly gone. */
export function isGone(holder: Holder, me: Holder): boolean {
  if (holder.boot !== me.boot || holder.pidns !== me.pidns) return false;
  if (!holder.start) return !exists(holder.pid);
  const start = startOf(holder.pid);
  // Other users' processes may be hidden in /proc: what is not seen there is gone only if the kernel says so too.
  return start === undefined ? !exists(holder.pid) : start !== holder.start;
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !hasCode(error, ["ESRCH"]);
  }
}

function startOf(pid: number): string | undefined {
  try {
    return startIn(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch (error) {
    // ESRCH: the process ended between opening and reading its file. EACCES, EPERM: it is hidden.
    if (hasCode(error, ["ENOENT", "ESRCH", "EACCES", "EPERM"])) return undefined;
    throw error;
  }
}

/** When a process began, in clock ticks since boot. Dead but not yet reaped is "", which equals no start. */
export function startIn(stat: string): string | undefined {
  // The second field is the program's name, which may hold spaces and parentheses: count from its end.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? "" : fields[19];
}

const hasCode = (error: unknown, codes: string[]): boolean =>
  error instanceof Error && "code" in error && typeof error.code === "string" && codes.includes(error.code);

/** Tells store objects apart. Not a secret, so it does without the platform's crypto, which takes 3 ms to load. */
export const newHolderId = (): string =>
  [process.pid, Date.now(), Math.random(), Math.random()].map((part) => part.toString(36).replace("0.", "")).join("-");
