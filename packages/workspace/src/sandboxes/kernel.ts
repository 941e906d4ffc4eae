import { existsSync, lstatSync, readdirSync, statSync } from "node:fs";
import { wordList } from "../contents/word-list.ts";

/** Files that show the memory, keys, timers or hardware of the machine. Containers hide them, too. */
const MASKED = wordList(`
  acpi asound kcore keys key-users latency_stats sched_debug scsi timer_list timer_stats
  kmsg kpagecgroup kpagecount kpageflags slabinfo vmallocinfo
`).map((name) => `/proc/${name}`);

/** With this file root can make the kernel run a program, outside of every sandbox. */
const PROBED = "/proc/sys/kernel/core_pattern";
/** An exit code that nothing else has. */
const OPENED = 93;

/**
 * Mounts for bubblewrap, after its `--proc /proc`: files of the kernel that belong to no process can't be written, and `/sys` is empty.
 * Dropping capabilities is not enough, because root can write many of these files without one. Bubblewrap itself does not protect
 * `/proc/sys`. `capable`: commands have capabilities in their own namespace, so the modes of files don't protect them.
 */
export function kernelMounts({ capable = false } = {}): string[] {
  const masked = MASKED.filter((path) => existsSync(path));
  const readOnly = ownFiles({ capable }).filter((path) => !masked.includes(path));
  return [...readOnly.flatMap((path) => ["--ro-bind", path, path]), ...["/sys", ...masked].flatMap(hide)];
}

/** The folders and writable files of `/proc`, except those of processes, whatever this kernel has. */
function ownFiles({ capable }: { capable: boolean }): string[] {
  const names = readdirSync("/proc").filter((name) => !/^\d+$/.test(name));
  return names
    .map((name) => `/proc/${name}`)
    .filter((path) => {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      return stats?.isDirectory() || (stats?.isFile() && (capable || (stats.mode & 0o222) !== 0));
    });
}

/** Mounts that replace a file or folder with an empty one. */
export function hide(path: string): string[] {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
  return isFolder ? ["--tmpfs", path, "--remount-ro", path] : ["--ro-bind", "/dev/null", path];
}

/** A script to run in a sandbox. It opens a file of the kernel for writing, without writing, and fails if that works. */
export const KERNEL_PROBE = `( : >> ${PROBED} ) 2>/dev/null && exit ${OPENED}; exit 0`;

/** What is wrong with a sandbox in which the script exited with this code. */
export const kernelProblem = (code: unknown): string | undefined =>
  code === OPENED ? `${PROBED} can be opened for writing, so commands could change the kernel.` : undefined;
