import type { Backend, Reach } from "../backend.ts";
import { fileError } from "../file-error.ts";
import { isOutputName, type Outputs } from "../outputs/outputs.ts";
import { globFiles, grepFiles } from "../search/index.ts";
import { directoryBackend } from "./directory.ts";

/** Whole outputs of commands, by name: the folder looks empty. The caller must refuse writes. */
export function outputFiles(outputs: Outputs): Backend {
  const disk = directoryBackend({ root: outputs.directory });
  /** No output has another name, and in a folder that other users can write to there are none. */
  const isOutput = async (path: string): Promise<boolean> =>
    isOutputName(path.slice(1)) &&
    outputs.check().then(
      () => true,
      () => false,
    );
  const backend: Backend = {
    async list(path, reach) {
      const found = await backend.stat(path, reach);
      if (found?.type !== "directory") throw fileError(found ? "not_a_directory" : "not_found", path);
      return [];
    },
    async stat(path, reach) {
      if (path === "/") return { path, type: "directory", size: 0, modified: 0, version: "" };
      return (await isOutput(path)) ? disk.stat(path, direct(reach)) : null;
    },
    async *read(path, range, reach) {
      if (!(await isOutput(path))) throw fileError(path === "/" ? "is_a_directory" : "not_found", path);
      yield* disk.read(path, range, direct(reach));
    },
    write: disk.write,
    delete: disk.delete,
    glob: (query, reach) => globFiles(backend, query, reach),
    grep: (query, reach) => grepFiles(backend, query, reach),
  };
  return backend;
}

/** The folder of outputs holds no links. */
const direct = (reach: Reach): Reach => ({ ...reach, direct: true });
