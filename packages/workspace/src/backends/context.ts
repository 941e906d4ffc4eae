import { CONTEXT_PATH } from "@cinch/core/workspace";
import type { Backend, Range, Reach, Sight } from "../backend.ts";
import { fileError } from "../file-error.ts";
import { isWithin, parentOf } from "../paths.ts";
import { Batches } from "../search/index.ts";
import { BackendAround } from "./backend-around.ts";
import { sightsOf } from "./bulk.ts";
import { compositeBackend } from "./composite.ts";
import { offloadedTexts } from "./journal.ts";

/**
 * A backend in which a thread can read what it and the threads above it have offloaded. Whatever the backend itself has at that path is
 * hidden. Searches from above leave it out, as they leave out `.git`: the texts are copies of what the model has seen a part of.
 */
export const withContext = (backend: Backend): Backend => new ContextBackend(backend);

export const CONTEXT_IS_READ_ONLY = "what was offloaded can only be read.";

const FOLDER = parentOf(CONTEXT_PATH);
const isContext = (path: string): boolean => isWithin(path, CONTEXT_PATH);
const isNear = (path: string): boolean => isWithin(path, FOLDER);

class ContextBackend extends BackendAround implements Backend {
  /** The backend with the offloaded texts in it. */
  readonly #all: Backend;

  constructor(backend: Backend) {
    super(backend);
    this.#all = compositeBackend({ default: backend, routes: { [CONTEXT_PATH]: offloadedTexts() } });
  }

  readonly list: Backend["list"] = (path, reach) => this.#at(path).list(path, reach);

  readonly stat: Backend["stat"] = (path, reach) => this.#at(path).stat(path, reach);

  read(path: string, range: Range, reach: Reach): AsyncIterable<Uint8Array> {
    return this.#at(path).read(path, range, reach);
  }

  readonly write: Backend["write"] = async (path, content, options, reach) => {
    if (isContext(path)) throw fileError("denied", path, CONTEXT_IS_READ_ONLY);
    return this.backend.write(path, content, options, reach);
  };

  readonly delete: Backend["delete"] = async (path, reach, options) => {
    if (isContext(path)) throw fileError("denied", path, CONTEXT_IS_READ_ONLY);
    await this.backend.delete(path, reach, options);
  };

  readonly glob: Backend["glob"] = (query, reach) => {
    if (isNear(query.path) || isNear(query.pattern) || isNear(`/${query.pattern}`)) return this.#all.glob(query, reach);
    return new Batches(withoutContext(this.backend.glob(query, reach)));
  };

  readonly grep: Backend["grep"] = (query, reach) => {
    if (isNear(query.path)) return this.#all.grep(query, reach);
    return new Batches(withoutContext(this.backend.grep(query, reach)));
  };

  async *look(paths: readonly string[], reach: Reach): AsyncGenerator<Sight> {
    for (const [backend, some] of Map.groupBy(paths, (path) => this.#at(path))) yield* sightsOf(backend, some, reach);
  }

  override async resolve(path: string, reach: Reach): Promise<string> {
    return isContext(path) ? path : super.resolve(path, reach);
  }

  #at(path: string): Backend {
    return isNear(path) ? this.#all : this.backend;
  }
}

async function* withoutContext<T extends { path: string }>(found: AsyncIterable<T>): AsyncGenerator<T[]> {
  for await (const items of Batches.of(found)) yield items.filter(({ path }) => !isContext(path));
}
