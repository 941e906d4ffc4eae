import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { systemCodeOf } from "./failure.ts";

/** The process behind a store object that holds leases. A process on the same machine can see at once that it is dead. */
export interface Holder {
  boot: string;
  pidns: string;
  pid: number;
  start: string;
}

/** Without /proc a reused pid can't be recognised: then only the counter of the holder shows that it is dead. */
export function currentHolder(): Holder {
  const proc = procIdentity();
  return { pid: process.pid, ...(proc ?? { boot: hostname(), pidns: "", start: "" }) };
}

function procIdentity(): Omit<Holder, "pid"> | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const start = startTimeOf(process.pid);
    return start === undefined ? undefined : { boot, pidns: readlinkSync("/proc/self/ns/pid"), start };
  } catch (error) {
    if (["ENOENT", "EACCES", "EPERM"].includes(systemCodeOf(error))) return undefined;
    throw error;
  }
}

/** True only if that process has certainly ended. */
export function isGone(holder: Holder, me: Holder): boolean {
  if (holder.boot !== me.boot || holder.pidns !== me.pidns) return false;
  if (!holder.start) return !exists(holder.pid);
  const start = startTimeOf(holder.pid);
  // /proc may hide the processes of other users, so the kernel is asked as well.
  return start === undefined ? !exists(holder.pid) : start !== holder.start;
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return systemCodeOf(error) !== "ESRCH";
  }
}

function startTimeOf(pid: number): string | undefined {
  try {
    return startTimeIn(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch (error) {
    // ESRCH: the process ended between the opening and the reading of its file. EACCES, EPERM: it is hidden.
    if (["ENOENT", "ESRCH", "EACCES", "EPERM"].includes(systemCodeOf(error))) return undefined;
    throw error;
  }
}

/** The start time of a process, in clock ticks since boot. "" for a process that is dead but not yet reaped. */
export function startTimeIn(stat: string): string | undefined {
  // The second field is the name of the program, which may contain spaces and parentheses: count from its end.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? "" : fields[19];
}

/** Identifies a store object. Not a secret, and loading the crypto module would take 3 ms. */
export const newHolderId = (): string =>
  [process.pid, Date.now(), Math.random(), Math.random()].map((part) => part.toString(36).replace("0.", "")).join("-");
