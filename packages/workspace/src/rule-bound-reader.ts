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
export function ruleBoundReader({ backend, path: pathOf }: RuleBoundFiles, reach: Reach): WorkspaceReader {
  const fileAt = async (input: string) => {
    const found = await orMissing(() => backend.stat(pathOf(input), reach));
    return found?.type === "file" ? found : null;
  };
  const version = async (input: string) => (await fileAt(input))?.version ?? null;
  return {
    async list(input) {
      const entries = await orMissing(() => backend.list(pathOf(input), reach));
      const named = entries?.map(({ path, type }) => ({ name: nameOf(path), type }));
      return named?.toSorted((a, b) => (a.name < b.name ? -1 : 1)) ?? null;
    },
    version,
    async versions(inputs) {
      const paths = await Promise.all(inputs.map((input) => orMissing(async () => pathOf(input))));
      const known = new Map<string | null, string | null>([[null, null]]);
      const asked = [...new Set(paths.flatMap((path) => path ?? []))];
      for await (const sight of sightsOf(backend, asked, reach)) {
        if (sight.kind === "file") known.set(sight.path, sight.file.version);
        else if (sight.kind === "nothing" || sight.kind === "directory") known.set(sight.path, null);
      }
      // What a link leads to, and what can't be seen, is looked at alone.
      return Promise.all(paths.map((path) => known.get(path) ?? (known.has(path) ? null : version(path!))));
    },
    async read(input, { maxBytes }) {
      const found = await fileAt(input);
      if (!found) return null;
      const bytes = await orMissing(() =>
        collect(untilAborted(backend.read(pathOf(input), { end: maxBytes }, reach), reach.signal)),
      );
      return bytes && { text: new TextDecoder().decode(bytes), version: found.version, size: found.size };
    },
  };
}

/** `null`: nothing may be read there. */
async function orMissing<T>(look: () => Promise<T>): Promise<T | null> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof FileError && MISSING.has(error.problem)) return null;
    throw error;
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
