import { createReadStream } from "node:fs";
import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Backend, FileError } from "@cinch/workspace";
import type { Entry, Reach, Stat } from "@cinch/workspace/backend";

/** Files of a folder, by thread, without the checks of a real backend. */
export function minimalDiskBackend(root: string, denied: string[] = []): Backend {
  const real = (path: string, { threadId }: Reach): string => {
    if (denied.includes(path)) throw new FileError("denied", path, `${path} may not be read.`);
    return join(root, threadId, path);
  };
  const look = async (path: string, reach: Reach): Promise<Stat | null> => {
    const found = await stat(real(path, reach)).catch(() => undefined);
    if (!found) return null;
    const type = found.isDirectory() ? "directory" : "file";
    const size = type === "file" ? found.size : 0;
    return { path, type, size, modified: found.mtimeMs, version: `${found.mtimeMs} ${found.ino} ${found.size}` };
  };
  const demand = async (path: string, reach: Reach): Promise<Stat> => {
    const found = await look(path, reach);
    if (!found) throw new FileError("not_found", path, `There is no ${path}.`);
    return found;
  };

  return {
    stat: look,
    async list(path, reach): Promise<Entry[]> {
      if ((await demand(path, reach)).type === "file") throw new FileError("not_a_directory", path, "It is a file.");
      const names = await readdir(real(path, reach));
      return Promise.all(names.map((name) => demand(join(path, name), reach)));
    },
    async *read(path, { start, end }, reach) {
      if ((await demand(path, reach)).type === "directory")
        throw new FileError("is_a_directory", path, "It is a folder.");
      yield* createReadStream(real(path, reach), { start, end: end === undefined ? undefined : end - 1 });
    },
    async write(path, content, { ifVersion }, reach) {
      const before = await look(path, reach);
      if (ifVersion !== undefined && (before?.version ?? null) !== ifVersion)
        throw new FileError("changed", path, "It is another.");
      await mkdir(dirname(real(path, reach)), { recursive: true });
      await writeFile(real(path, reach), content);
      return demand(path, reach);
    },
    async delete(path, reach) {
      await demand(path, reach);
      await rm(real(path, reach), { recursive: true });
    },
    async *glob() {},
    async *grep() {},
  };
}
