import type { FileReach, FileRestore } from "@cinch/core";
import type { Backend, Sight } from "../backend.ts";
import { namesInside, sightsOf } from "../bulk.ts";
import { parentOf, shown } from "../paths.ts";
import { backendReach, reasonOf } from "./versions.ts";

interface Ground {
  backend: Backend;
  reach: FileReach;
  /** What the same rewind deletes before it writes anything. */
  gone: ReadonlySet<string>;
}

/**
 * What stands in the way of files that are to be written, and does not go with the same rewind: a directory with something else in it
 * where the file was, or a file or link where a directory above it was. A rewind and its dry run both ask this, so that they agree.
 */
export async function obstaclesTo(
  files: readonly FileRestore[],
  { backend, reach }: Omit<Ground, "gone">,
): Promise<Map<string, string>> {
  const gone = new Set(files.flatMap(({ path, to }) => (to ? [] : [path])));
  const written = new Set<string>();
  const obstacles = new Map<string, string>();
  const due = files.flatMap(({ path, to }) => (to ? [path] : []));
  const sights = new Map<string, Sight>();
  for await (const sight of sightsOf(backend, due, backendReach(reach))) sights.set(sight.path, sight);
  // Of two that can't both be there, the one further up.
  for (const path of due.toSorted((a, b) => a.length - b.length)) {
    const why = under(path, written) ?? (await obstacle(sights.get(path), { backend, reach, gone }));
    if (why === undefined) written.add(path);
    else obstacles.set(path, why);
  }
  return obstacles;
}

/** A file that comes back where this one needs a directory. */
function under(path: string, written: ReadonlySet<string>): string | undefined {
  if (written.size === 0) return undefined;
  for (let above = parentOf(path); above !== "/"; above = parentOf(above))
    if (written.has(above)) return `${shown(above)} is a file again, so that nothing can be in it.`;
  return undefined;
}

async function obstacle(sight: Sight | undefined, { backend, reach, gone }: Ground): Promise<string | undefined> {
  if (sight?.kind === "blocked" && !gone.has(sight.by))
    return `${shown(sight.by)} is in its way, which is not this thread's. Move it away, then rewind again.`;
  if (sight?.kind !== "directory") return undefined;
  try {
    for await (const path of namesInside(backend, sight.path, backendReach(reach)))
      if (!gone.has(path))
        return `A directory is in its place, with ${shown(path)} in it, which is not this thread's. Move it away, then rewind again.`;
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}
