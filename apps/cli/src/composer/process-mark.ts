import { readFileSync } from "node:fs";

/** Names a process of this machine. Where the system says when it started, no other process ever has the same mark. */
export const processMark = (pid = process.pid): string => `${pid}-${startOf(pid)}`;

export function isRunning(mark: string): boolean {
  const pid = Number.parseInt(mark, 10);
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Another user's process exists, too.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  return processMark(pid) === mark;
}

/** In clock ticks since boot. "" if the system does not say it. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name of the program may contain spaces and parentheses: count from its end.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}
