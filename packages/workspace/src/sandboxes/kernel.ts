import { existsSync, lstatSync, readdirSync, statSync } from "node:fs";

/** What shows the machine's memory, keys and timers, or its hardware: as containers hide it. */
const MASKED = `
  acpi asound kcore keys key-users latency_stats sched_debug scsi timer_list timer_stats
  kmsg kpagecgroup kpagecount kpageflags slabinfo vmallocinfo
`
  .trim()
  .split(/\s+/)
  .map((name) => `/proc/${name}`);

/** A file of which root could make the kernel run a program, outside of every sandbox. */
const PROBED = "/proc/sys/kernel/core_pattern";
/** A code that nothing else ends with. */
const OPENED = 93;

export interface KernelOptions {
  /** Commands have capabilities in a namespace of their own, so that the modes of files don't count. */
  capable?: boolean;
}

/**
 * Mounts for bubblewrap, to come after its `--proc /proc`: of the files of the kernel that belong to no process, none can be written.
 * Root needs no capability to write many of them, so that dropping these is not enough; and bubblewrap's own protection passes over
 * `/proc/sys`. `/sys` is empty.
 */
export function kernelMounts({ capable = false }: KernelOptions = {}): string[] {
  const masked = MASKED.filter((path) => existsSync(path));
  const readOnly = ownFiles({ capable }).filter((path) => !masked.includes(path));
  return [...readOnly.flatMap((path) => ["--ro-bind", path, path]), ...["/sys", ...masked].flatMap(hide)];
}

/** The folders and the writable files of `/proc`, but for processes: what another kernel has there is covered, too. */
function ownFiles({ capable }: KernelOptions): string[] {
  const names = readdirSync("/proc").filter((name) => !/^\d+$/.test(name));
  return names
    .map((name) => `/proc/${name}`)
    .filter((path) => {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      return stats?.isDirectory() || (stats?.isFile() && (capable || (stats.mode & 0o222) !== 0));
    });
}

/** Mounts that put nothing in the place of a file or folder. */
export function hide(path: string): string[] {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
  return isFolder ? ["--tmpfs", path, "--remount-ro", path] : ["--ro-bind", "/dev/null", path];
}

/** A script for the inside of a sandbox. It opens a file of the kernel for writing, without writing, and fails if it could. */
export const KERNEL_PROBE = `( : >> ${PROBED} ) 2>/dev/null && exit ${OPENED}; exit 0`;

/** What is wrong with a sandbox in which the script ended with this code. */
export const kernelProblem = (code: unknown): string | undefined =>
  code === OPENED ? `${PROBED} can be opened for writing in it, and so the kernel be changed.` : undefined;
