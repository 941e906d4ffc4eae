import { CONTEXT_PATH } from "@cinch/core/workspace";
import type { Backend, Range, Reach, Sight } from "../backend.ts";
import { fileError, type FileError } from "../file-error.ts";
import { OUTPUT_PATH, type Outputs } from "../outputs/outputs.ts";
import { isWithin, parentOf } from "../paths.ts";
import { Batches } from "../search/index.ts";
import { BackendAround } from "./backend-around.ts";
import { namesInside, sightsOf } from "./bulk.ts";
import { compositeBackend } from "./composite.ts";
import { offloadedTexts } from "./journal.ts";
import { outputFiles } from "./output-files.ts";

/**
 * A backend in which a thread can read what it and the threads above it have offloaded, and whole outputs of commands. Whatever the backend
 * itself has at these paths is hidden. Searches from above leave them out, as they leave out `.git`: the texts are copies of what the model
 * has seen a part of.
 */
export const withOwnFolders = (backend: Backend, outputs: Outputs): Backend => new OwnFolders(backend, outputs);

export const CONTEXT_IS_READ_ONLY = "what was offloaded can only be read.";

/** The folder of both. */
const FOLDER = parentOf(CONTEXT_PATH);
const isOutput = (path: string): boolean => isWithin(path, OUTPUT_PATH);
const isOwn = (path: string): boolean => isWithin(path, CONTEXT_PATH) || isOutput(path);
const isNear = (path: string): boolean => isWithin(path, FOLDER);

class OwnFolders extends BackendAround implements Backend {
  /** The backend with the own folders in it. */
  readonly #all: Backend;

  constructor(backend: Backend, outputs: Outputs) {
    super(backend);
    const routes = { [CONTEXT_PATH]: offloadedTexts(), [OUTPUT_PATH]: outputFiles(outputs) };
    this.#all = compositeBackend({ default: backend, routes });
  }

  /** The name of an output gives access to it, so not even their folder is listed. */
  readonly list: Backend["list"] = async (path, reach) =>
    (await this.#at(path).list(path, reach)).filter((entry) => !isOutput(entry.path));

  readonly stat: Backend["stat"] = (path, reach) => this.#at(path).stat(path, reach);

  read(path: string, range: Range, reach: Reach): AsyncIterable<Uint8Array> {
    return this.#at(path).read(path, range, reach);
  }

  readonly write: Backend["write"] = async (path, content, options, reach) => {
    if (isOwn(path)) throw onlyRead(path);
    return this.backend.write(path, content, options, reach);
  };

  readonly delete: Backend["delete"] = async (path, reach, options) => {
    if (isOwn(path)) throw onlyRead(path);
    await this.backend.delete(path, reach, options);
  };

  readonly glob: Backend["glob"] = (query, reach) => {
    if (isNear(query.path) || isNear(query.pattern) || isNear(`/${query.pattern}`)) return this.#all.glob(query, reach);
    return new Batches(withoutOwn(this.backend.glob(query, reach)));
  };

  readonly grep: Backend["grep"] = (query, reach) => {
    if (isNear(query.path)) return this.#all.grep(query, reach);
    return new Batches(withoutOwn(this.backend.grep(query, reach)));
  };

  async *look(paths: readonly string[], reach: Reach): AsyncGenerator<Sight> {
    for (const [backend, some] of Map.groupBy(paths, (path) => this.#at(path))) yield* sightsOf(backend, some, reach);
  }

  /** Without the own folders: they are not deleted. */
  inside(path: string, reach: Reach): AsyncIterable<string> {
    return namesInside(this.backend, path, reach);
  }

  override async resolve(path: string, reach: Reach): Promise<string> {
    return isOwn(path) ? path : super.resolve(path, reach);
  }

  #at(path: string): Backend {
    return isNear(path) ? this.#all : this.backend;
  }
}

async function* withoutOwn<T extends { path: string }>(found: AsyncIterable<T>): AsyncGenerator<T[]> {
  for await (const items of Batches.of(found)) yield items.filter(({ path }) => !isOwn(path));
}

const onlyRead = (path: string): FileError =>
  fileError("denied", path, isOutput(path) ? "what commands printed can only be read." : CONTEXT_IS_READ_ONLY);
