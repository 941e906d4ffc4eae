import type { Backend, Entry, GlobQuery, GrepMatch, GrepQuery, Range, Reach, Sight } from "../backend.ts";
import { plainSights, sightsOf } from "./bulk.ts";
import { fileError, retold } from "../file-error.ts";
import { OUTPUT_PATH, type Outputs } from "../outputs/outputs.ts";
import { isWithin } from "../paths.ts";
import { Batches } from "../search/index.ts";
import { BackendAround } from "./backend-around.ts";
import { directoryBackend } from "./directory.ts";

/** A backend in which whole outputs of commands can be read by name. */
export function withOutputs(backend: Backend, outputs: Outputs): Backend {
  return new OutputBackend(backend, outputs);
}

const isOutput = (path: string): boolean => isWithin(path, OUTPUT_PATH);

class OutputBackend extends BackendAround implements Backend {
  readonly #outputs: Outputs;
  readonly #disk: Backend;

  constructor(backend: Backend, outputs: Outputs) {
    super(backend);
    this.#outputs = outputs;
    this.#disk = directoryBackend({ root: outputs.directory });
  }

  readonly list: Backend["list"] = async (path, reach) => {
    if (!isOutput(path)) return (await this.backend.list(path, reach)).filter((entry) => !isOutput(entry.path));
    throw fileError((await this.stat(path, reach)) ? "not_a_directory" : "not_found", path);
  };

  readonly stat: Backend["stat"] = async (path, reach) => {
    if (!isOutput(path)) return this.backend.stat(path, reach);
    const inner = await this.#inner(path);
    if (inner === undefined) return null;
    const stat = await this.#disk.stat(inner, direct(reach));
    return stat && { ...stat, path };
  };

  async *read(path: string, range: Range, reach: Reach): AsyncGenerator<Uint8Array> {
    if (!isOutput(path)) return yield* this.backend.read(path, range, reach);
    yield* this.#inside(path, (inner) => this.#disk.read(inner, range, direct(reach)));
  }

  readonly write: Backend["write"] = async (path, content, options, reach) => {
    if (isOutput(path)) throw onlyRead(path);
    return this.backend.write(path, content, options, reach);
  };

  readonly delete: Backend["delete"] = async (path, reach, options) => {
    if (isOutput(path)) throw onlyRead(path);
    await this.backend.delete(path, reach, options);
  };

  readonly glob: Backend["glob"] = (query, reach) => new Batches(this.#glob(query, reach));

  async *#glob(query: GlobQuery, reach: Reach): AsyncGenerator<Entry[]> {
    if (isOutput(query.path))
      throw fileError((await this.stat(query.path, reach)) ? "not_a_directory" : "not_found", query.path);
    for await (const entries of Batches.of(this.backend.glob(query, reach)))
      yield entries.filter((entry) => !isOutput(entry.path));
  }

  readonly grep: Backend["grep"] = (query, reach) => new Batches(this.#grep(query, reach));

  async *#grep(query: GrepQuery, reach: Reach): AsyncGenerator<GrepMatch[]> {
    const { path } = query;
    if (!isOutput(path)) {
      for await (const matches of Batches.of(this.backend.grep(query, reach)))
        yield matches.filter((match) => !isOutput(match.path));
      return;
    }
    const inside = (inner: string) => Batches.of(this.#disk.grep({ ...query, path: inner }, direct(reach)));
    for await (const matches of this.#inside(path, inside)) yield matches.map((match) => ({ ...match, path }));
  }

  async *look(paths: readonly string[], reach: Reach): AsyncGenerator<Sight> {
    yield* plainSights(this, paths.filter(isOutput), reach);
    const others = paths.filter((path) => !isOutput(path));
    yield* sightsOf(this.backend, others, reach);
  }

  override async resolve(path: string, reach: Reach): Promise<string> {
    return isOutput(path) ? path : super.resolve(path, reach);
  }

  async *#inside<T>(path: string, work: (inner: string) => AsyncIterable<T>): AsyncGenerator<T> {
    const inner = await this.#inner(path);
    if (inner === undefined) throw fileError("not_found", path);
    try {
      yield* work(inner);
    } catch (error) {
      throw retold(error, () => path);
    }
  }

  /** The path in the outputs folder; `undefined` if there is none, or if the folder is not private. */
  async #inner(path: string): Promise<string | undefined> {
    const name = this.#outputs.nameOf(path);
    if (name === undefined) return undefined;
    return this.#outputs.check().then(
      () => `/${name}`,
      () => undefined,
    );
  }
}

/** The outputs folder holds no links. */
const direct = (reach: Reach): Reach => ({ ...reach, direct: true });

const onlyRead = (path: string) => fileError("denied", path, "what commands printed can only be read.");
