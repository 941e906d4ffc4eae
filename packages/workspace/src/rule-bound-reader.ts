import type { WorkspaceReader } from "@cinch/core";
import type { Backend, Reach } from "./backend.ts";
import { sightsOf } from "./backends/bulk.ts";
import { collect, untilAborted } from "./contents/collect.ts";
import { FileError, type FileProblem } from "./file-error.ts";
import { nameOf } from "./paths.ts";

interface RuleBoundFiles {
  /** Refuses what may not be read without asking. */
  backend: Backend;
  /** The workspace path that an input means. Throws a `FileError`. */
  path(input: string): string;
}

/** What may not be read, or not without asking, does not exist for it: no person can be asked. */
export class RuleBoundReader implements WorkspaceReader {
  readonly #files: RuleBoundFiles;
  readonly #reach: Reach;

  constructor(files: RuleBoundFiles, reach: Reach) {
    this.#files = files;
    this.#reach = reach;
  }

  readonly list: WorkspaceReader["list"] = async (input) => {
    const { backend } = this.#files;
    const entries = await this.#existing(input, (path) => backend.list(path, this.#reach));
    if (!entries) return null;
    return entries
      .map(({ path, type }) => ({ name: nameOf(path), type }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  };

  readonly version: WorkspaceReader["version"] = async (input) => (await this.#stat(input))?.version ?? null;

  readonly versions: NonNullable<WorkspaceReader["versions"]> = async (inputs) => {
    const paths = inputs.map((input) => this.#pathOf(input));
    const known = new Map<string, string | null>();
    const asked = [...new Set(paths.flatMap((path) => path ?? []))];
    for await (const sight of sightsOf(this.#files.backend, asked, this.#reach)) {
      if (sight.kind === "file") known.set(sight.path, sight.file.version);
      else if (sight.kind === "nothing" || sight.kind === "directory") known.set(sight.path, null);
    }
    // What a link leads to, and what can't be seen, is looked at alone.
    return Promise.all(
      paths.map(async (path) => {
        const version = path === null ? null : known.get(path);
        return version === undefined ? this.version(path!) : version;
      }),
    );
  };

  readonly read: WorkspaceReader["read"] = async (input, { maxBytes }) => {
    const found = await this.#stat(input);
    if (!found) return null;
    const { version, size } = found;
    const { backend } = this.#files;
    const bytes = await this.#existing(input, (path) =>
      collect(untilAborted(backend.read(path, { end: maxBytes }, this.#reach), this.#reach.signal)),
    );
    return bytes && { text: new TextDecoder().decode(bytes), version, size };
  };

  /** `null`: it is not a path of the workspace. */
  #pathOf(input: string): string | null {
    try {
      return this.#files.path(input);
    } catch (error) {
      if (error instanceof FileError && MISSING.has(error.problem)) return null;
      throw error;
    }
  }

  async #stat(input: string) {
    const { backend } = this.#files;
    const found = await this.#existing(input, (path) => backend.stat(path, this.#reach));
    return found?.type === "file" ? found : null;
  }

  /** `null`: nothing may be read there. */
  async #existing<T>(input: string, look: (path: string) => Promise<T>): Promise<T | null> {
    try {
      return await look(this.#files.path(input));
    } catch (error) {
      if (error instanceof FileError && MISSING.has(error.problem)) return null;
      throw error;
    }
  }
}

const MISSING: ReadonlySet<FileProblem> = new Set([
  "not_found",
  "not_a_directory",
  "is_a_directory",
  "denied",
  "outside",
  "invalid",
]);
