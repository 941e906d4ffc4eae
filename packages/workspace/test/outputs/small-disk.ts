import { spawnSync } from "node:child_process";
import { folder } from "../shells/shell-support.ts";

/** A disk of 1 MB, if one can be mounted here. */
export function smallDisk(): ({ path: string } & Disposable) | null {
  const place = folder();
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", place.path]).status === 0;
  const dispose = () => {
    if (mounted) spawnSync("umount", ["-l", place.path]);
    place[Symbol.dispose]();
  };
  if (mounted) return { path: place.path, [Symbol.dispose]: dispose };
  dispose();
  return null;
}
