import type { Backend, Entry, Reach, Sight, SmallWrite } from "../backend.ts";
import { mapConcurrently } from "../disk/at-once.ts";
import { FileError } from "../file-error.ts";
import { asError } from "../thrown-error.ts";
import { joinPath, namesOf, parentOf } from "../paths.ts";
import { chunksOf } from "../contents/saved-contents.ts";

export const sightsOf = (backend: Backend, paths: readonly string[], reach: Reach): AsyncIterable<Sight> =>
  backend.look?.(paths, reach) ?? plainSights(backend, paths, reach);

export async function sightAt(backend: Backend, path: string, reach: Reach): Promise<Sight> {
  for await (const sight of sightsOf(backend, [path], reach)) return sight;
  return { path, kind: "nothing" };
}

/** `look` for backends without one. */
export async function* plainSights(backend: Backend, paths: readonly string[], reach: Reach): AsyncGenerator<Sight> {
  for (const path of paths) {
    try {
      yield await plainSight(backend, path, reach);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      yield { path, kind: "failed", error };
    }
  }
}

async function plainSight(backend: Backend, path: string, reach: Reach): Promise<Sight> {
  const parent = parentOf(path);
  if ((await leadsTo(backend, parent, reach)) !== parent) {
    const by = await firstAbove(path, async (above) => (await leadsTo(backend, above, reach)) !== above);
    return { path, kind: "blocked", by: by ?? parent };
  }
  if ((await leadsTo(backend, path, reach)) !== path) return { path, kind: "link" };
  const stat = await plainStat(backend, path, reach);
  if (stat?.target !== undefined) return { path, kind: "link" };
  if (stat?.type === "directory") return { path, kind: "directory" };
  if (stat)
    return { path, kind: "file", file: { ...stat, settled: true, contents: () => backend.read(path, {}, reach) } };
  const by = await firstAbove(path, async (above) => (await plainStat(backend, above, reach))?.type === "file");
  return by === undefined ? { path, kind: "nothing" } : { path, kind: "blocked", by };
}

async function plainStat(backend: Backend, path: string, reach: Reach) {
  return backend.stat(path, reach).catch((error: unknown) => {
    if (error instanceof FileError && error.problem === "not_a_directory") return null;
    throw error;
  });
}

/** The first of the directories above a path, from the root on, for which the predicate holds. */
async function firstAbove(path: string, is: (above: string) => Promise<boolean>): Promise<string | undefined> {
  let above = "/";
  for (const name of namesOf(parentOf(path))) {
    above = joinPath(above, name);
    if (await is(above)) return above;
  }
  return undefined;
}

/** `null` if the path can't be resolved. */
async function leadsTo(backend: Backend, path: string, reach: Reach): Promise<string | null> {
  try {
    return (await backend.resolve?.(path, { ...reach, direct: false })) ?? path;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return error.problem === "not_a_directory" ? path : null;
  }
}

/** The paths of everything below a directory except directories. */
export const namesInside = (backend: Backend, path: string, reach: Reach): AsyncIterable<string> =>
  backend.inside?.(path, reach) ?? plainInside(backend, path, reach);

async function* plainInside(backend: Backend, path: string, reach: Reach): AsyncGenerator<string> {
  for await (const entry of entriesInside(backend, path, reach)) if (!isDirectory(entry)) yield entry.path;
}

/** Everything that is listed below a directory, also directories. Links are not followed. */
export async function* entriesInside(backend: Backend, path: string, reach: Reach): AsyncGenerator<Entry> {
  const waiting = [path];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of await backend.list(folder, reach)) {
      if (isDirectory(entry)) waiting.push(entry.path);
      yield entry;
    }
  }
}

/** Not a link to one. */
export const isDirectory = ({ type, target }: Entry): boolean => type === "directory" && target === undefined;

/** Writes and deletes many small files. Returns the error of each, or `null`, in order. */
export const writeEach = (backend: Backend, files: readonly SmallWrite[], reach: Reach): Promise<(Error | null)[]> =>
  backend.writeAll?.(files, reach) ?? writePlainly(backend, files, reach);

/** `writeAll` for backends without one. */
export async function writePlainly(
  backend: Backend,
  files: readonly SmallWrite[],
  reach: Reach,
): Promise<(Error | null)[]> {
  return mapConcurrently(files, (file) => writeOne(backend, file, reach).then(() => null, asError));
}

async function writeOne(backend: Backend, { path, ifVersion, content, mode }: SmallWrite, reach: Reach): Promise<void> {
  if (content) await backend.write(path, chunksOf(content), { ifVersion, mode }, reach);
  else await backend.delete(path, reach, ifVersion === null ? {} : { ifVersion });
}
