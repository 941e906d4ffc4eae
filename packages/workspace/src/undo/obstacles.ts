import type { FileReach, FileRestore } from "@cinch/core/workspace";
import type { Backend, Sight } from "../backend.ts";
import { namesInside, sightsOf } from "../backends/bulk.ts";
import { errorMessage } from "../thrown-error.ts";
import { parentOf, shown } from "../paths.ts";
import { backendReach } from "./current-file.ts";

interface Surroundings {
  backend: Backend;
  reach: FileReach;
  /** Files that the same rewind deletes before it writes anything. */
  deleted: ReadonlySet<string>;
}

/**
 * What blocks the files that a rewind writes, and is not deleted by it: a directory with other files in the place of a file, or a file or
 * link in the place of a directory above it. A rewind and its dry run both use this, so they agree.
 */
export async function obstaclesTo(
  files: readonly FileRestore[],
  { backend, reach }: Omit<Surroundings, "deleted">,
): Promise<Map<string, string>> {
  const deleted = new Set(files.flatMap(({ path, to }) => (to ? [] : [path])));
  const written = new Set<string>();
  const obstacles = new Map<string, string>();
  const wanted = files.flatMap(({ path, to }) => (to ? [path] : []));
  const sights = new Map<string, Sight>();
  for await (const sight of sightsOf(backend, wanted, backendReach(reach))) sights.set(sight.path, sight);
  // Of two files that exclude each other, the one nearer to the root is written.
  for (const path of wanted.toSorted((a, b) => a.length - b.length)) {
    const why = writtenAbove(path, written) ?? (await obstacleTo(sights.get(path), { backend, reach, deleted }));
    if (why === undefined) written.add(path);
    else obstacles.set(path, why);
  }
  return obstacles;
}

/** A file that the rewind writes where this path needs a directory. */
function writtenAbove(path: string, written: ReadonlySet<string>): string | undefined {
  if (written.size === 0) return undefined;
  for (let above = parentOf(path); above !== "/"; above = parentOf(above))
    if (written.has(above)) return `${shown(above)} is a file again, so it can't contain anything.`;
  return undefined;
}

async function obstacleTo(
  sight: Sight | undefined,
  { backend, reach, deleted }: Surroundings,
): Promise<string | undefined> {
  if (sight?.kind === "blocked" && !deleted.has(sight.by))
    return `${shown(sight.by)} is in its way, and this thread did not make it. Move it away, then rewind again.`;
  if (sight?.kind !== "directory") return undefined;
  try {
    for await (const path of namesInside(backend, sight.path, backendReach(reach)))
      if (!deleted.has(path))
        return `A directory is in its place, with ${shown(path)}, which this thread did not make. Move it away, then rewind again.`;
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}
