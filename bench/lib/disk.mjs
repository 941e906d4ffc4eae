/** The bytes that this process, with all its threads, has written, and the size of a folder. */
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** `wchar`: bytes passed to write calls. `write_bytes`: bytes sent to the block device. */
export function written() {
  if (!existsSync("/proc/self/io")) return { wchar: NaN, write_bytes: NaN, syscw: NaN };
  const lines = readFileSync("/proc/self/io", "utf8").trim().split("\n");
  return Object.fromEntries(lines.map((line) => line.split(": ")).map(([key, value]) => [key, Number(value)]));
}

export function folderSize(folder) {
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    return sum + (entry.isDirectory() ? folderSize(path) : statSync(path).size);
  }, 0);
}
