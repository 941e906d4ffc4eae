import { resolve } from "node:path";
import { readlink } from "node:fs/promises";
import { fileError } from "../file-error.ts";
import { isWithin, joinPath, namesOf } from "../paths.ts";
import { codeOf } from "./disk-error.ts";
import { bestConfinement, Folder, type Confinement, type DiskEntry } from "./folder.ts";

export interface Links {
  /** Whether links are followed. `"block"`: a link counts as a file. */
  follow: boolean | "block";
  /** A link at the end is kept as the link itself. */
  keepLast?: boolean;
}

export class Located {
  /** The workspace path with links resolved. */
  readonly path: string;
  /** The deepest existing directory on the way. */
  readonly folder: Folder;
  /** The names below it: the one that was found, or all that are missing. */
  readonly names: readonly string[];
  readonly found: DiskEntry | null;
  /** A name on the way exists and is not a directory. */
  readonly blocked: boolean;

  constructor({ folder, names, found = null, blocked = false }: Pick<Located, "folder" | "names"> & Partial<Located>) {
    this.folder = folder;
    this.names = names;
    this.found = found;
    this.blocked = blocked;
    this.path = names.reduce(joinPath, folder.path);
  }

  get name(): string {
    return this.names[0] ?? "";
  }

  /** The root has no name and no entry. */
  get isDirectory(): boolean {
    return this.names.length === 0 || this.found?.kind === "directory";
  }

  /** The directory itself, open as long as this object is. Throws if there is none; `path` is the caller's name for it. */
  enter(path: string = this.path): Folder {
    if (!this.isDirectory) throw fileError(this.found ? "not_a_directory" : "not_found", path);
    return this.found ? this.folder.enter(this.name, this.found) : this.folder;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.found?.[Symbol.asyncDispose]();
    await this.folder[Symbol.asyncDispose]();
  }
}

/** How many links, and ".." in them, one path may have. */
const MAX_TURNS = 100;

/** A folder of the machine, and the only access to its contents. */
export class Disk {
  readonly root: string;
  readonly #given: Confinement | undefined;
  #known: Promise<Confinement> | undefined;

  constructor(root: string, confinement?: Confinement) {
    this.root = resolve(root);
    this.#given = confinement;
  }

  confinement(): Promise<Confinement> {
    return (this.#known ??= this.#given ? Promise.resolve(this.#given) : bestConfinement());
  }

  /** Opened for each call: a folder that was deleted and created again works again. */
  async open(): Promise<Folder> {
    const confinement = await this.confinement();
    try {
      return await Folder.root(this.root, confinement);
    } catch (error) {
      const isGone = codeOf(error) === "ENOENT";
      const message = `the folder of this workspace ${isGone ? "does not exist any more" : "can't be opened"}.`;
      throw fileError("failed", "/", message, error);
    }
  }

  async locate(path: string, links: Links): Promise<Located> {
    let names = namesOf(path);
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const next = await this.#follow(path, names, links);
      if (next instanceof Located) return next;
      names = next;
    }
    throw fileError("invalid", path, "its links form a loop, or there are too many of them.");
  }

  /** Resolves names up to the first link; then returns the names to continue with. Only the target of a link holds "." or "..". */
  async #follow(path: string, names: readonly string[], links: Links): Promise<Located | string[]> {
    let folder = await this.open();
    let kept = false;
    const keep = (located: Located) => {
      kept = true;
      return located;
    };
    const rootReal = folder.real;
    try {
      let at = 0;
      const quick = names.length > 1 && !names.includes("..") ? await folder.descend(names.slice(0, -1)) : null;
      if (quick) {
        await folder[Symbol.asyncDispose]();
        folder = quick;
        at = names.length - 1;
      }
      for (; at < names.length; at++) {
        const [name, rest] = [names[at]!, names.slice(at + 1)];
        if (name === "..") return climb(path, { walked: names.slice(0, at), rest, rootReal });
        const found = await folder.lookAt(name);
        if (!found) {
          if (rest.includes("..")) throw fileError("not_found", path);
          return keep(new Located({ folder, names: [name, ...rest] }));
        }
        if (found.kind === "link" && links.follow !== "block" && (rest.length > 0 || !links.keepLast)) {
          await found[Symbol.asyncDispose]();
          if (!links.follow) throw fileError("changed", path, "a link was put on its way meanwhile. Look at it again.");
          return await this.#redirect(path, { folder, name, walked: names.slice(0, at), rest, rootReal });
        }
        if (rest.length === 0) return keep(new Located({ folder, names: [name], found }));
        if (found.kind !== "directory") {
          await found[Symbol.asyncDispose]();
          return keep(new Located({ folder, names: [name, ...rest], blocked: true }));
        }
        const below = folder.enter(name, found);
        await folder[Symbol.asyncDispose]();
        folder = below;
      }
      return keep(new Located({ folder, names: [] }));
    } finally {
      if (!kept) await folder[Symbol.asyncDispose]();
    }
  }

  async #redirect(
    path: string,
    { folder, name, walked, rest, rootReal }: Way & { folder: Folder; name: string },
  ): Promise<string[]> {
    const target = await readlink(folder.at(name)).catch((error: unknown) => {
      // Not a link any more: resolve the name again.
      if (codeOf(error) === "EINVAL" || codeOf(error) === "ENOENT") return name;
      throw error;
    });
    if (!target.startsWith("/")) return [...walked, ...steps(target), ...rest];
    const root = [rootReal, this.root === "/" ? "" : this.root].find((one) => isWithin(target, one));
    if (root === undefined)
      throw fileError("outside", path, "a link on its way escapes the root of the workspace (PATH_OUTSIDE_ROOT).");
    return [...steps(target.slice(root.length)), ...rest];
  }
}

interface Way {
  walked: readonly string[];
  rest: readonly string[];
  rootReal: string;
}

const steps = (path: string): string[] => namesOf(path).filter((name) => name !== ".");

/** Resolves "..". Above the root, the following names must lead back into it: any other path escapes and is not examined. */
function climb(path: string, { walked, rest, rootReal }: Way): string[] {
  if (walked.length > 0) return [...walked.slice(0, -1), ...rest];
  const root = namesOf(rootReal);
  let depth = Math.max(root.length - 1, 0);
  const names = [...rest];
  while (depth < root.length) {
    const name = names.shift();
    if (name === "..") depth = Math.max(depth - 1, 0);
    else if (name !== undefined && name === root[depth]) depth++;
    else throw fileError("outside", path, "a link on its way escapes the root of the workspace (PATH_OUTSIDE_ROOT).");
  }
  return names;
}
