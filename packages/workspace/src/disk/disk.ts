import { resolve } from "node:path";
import { readlink } from "node:fs/promises";
import { fileError } from "../file-error.ts";
import { isWithin, namesOf } from "../paths.ts";
import { codeOf } from "./disk-error.ts";
import { bestConfinement, Folder, type Confinement, type DiskEntry } from "./folder.ts";

/** What to do with links on the way, and whether the last name is meant itself if it is one. */
export interface Links {
  follow: boolean;
  keepLast?: boolean;
}

/** Where a path led. */
export class Located {
  /** Its path in the workspace, with links resolved. */
  readonly path: string;
  /** The deepest directory on the way that exists. */
  readonly folder: Folder;
  /** What is below it: the one name that was found, or all those that are not there. */
  readonly names: readonly string[];
  readonly standing: DiskEntry | null;
  /** A name on the way is there, and is no directory. */
  readonly blocked: boolean;

  constructor({
    folder,
    names,
    standing = null,
    blocked = false,
  }: Pick<Located, "folder" | "names"> & Partial<Located>) {
    this.folder = folder;
    this.names = names;
    this.standing = standing;
    this.blocked = blocked;
    this.path = names.reduce((path, name) => (path === "/" ? `/${name}` : `${path}/${name}`), folder.path);
  }

  get name(): string {
    return this.names[0] ?? "";
  }

  /** Whether it is a directory; the root has no name and no standing. */
  get isDirectory(): boolean {
    return this.names.length === 0 || this.standing?.kind === "directory";
  }

  /** The directory itself. Goes with this object. */
  enter(): Folder {
    return this.standing ? this.folder.enter(this.name, this.standing) : this.folder;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.standing?.[Symbol.asyncDispose]();
    await this.folder[Symbol.asyncDispose]();
  }
}

/** Links, and steps up in them. */
const MAX_TURNS = 100;

/** A folder of the machine, and the only way to what is in it. */
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

  /** Opened anew for each call: a folder that was deleted and made again is there again. */
  async open(): Promise<Folder> {
    const confinement = await this.confinement();
    try {
      return await Folder.root(this.root, confinement);
    } catch (error) {
      const tell =
        codeOf(error) === "ENOENT"
          ? "the folder of this workspace is not there any more."
          : "the folder of this workspace can't be opened.";
      throw fileError("failed", "/", tell, error);
    }
  }

  async locate(path: string, links: Links): Promise<Located> {
    let names = namesOf(path);
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const next = await this.#follow(path, names, links);
      if (next instanceof Located) return next;
      names = next;
    }
    throw fileError("invalid", path, "too many links lead to one another on its way.");
  }

  /** Where these names lead; or other names, after a link. "." and ".." are only ever in what a link says. */
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
        const standing = await folder.lookAt(name);
        if (!standing) {
          if (rest.includes("..")) throw fileError("not_found", path);
          return keep(new Located({ folder, names: [name, ...rest] }));
        }
        if (standing.kind === "link" && (rest.length > 0 || !links.keepLast)) {
          await standing[Symbol.asyncDispose]();
          if (!links.follow) throw fileError("changed", path, "a link has come into its way. Look at it again.");
          return await this.#redirect(path, { folder, name, walked: names.slice(0, at), rest, rootReal });
        }
        if (rest.length === 0) return keep(new Located({ folder, names: [name], standing }));
        if (standing.kind !== "directory") {
          await standing[Symbol.asyncDispose]();
          return keep(new Located({ folder, names: [name, ...rest], blocked: true }));
        }
        const below = folder.enter(name, standing);
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
      // It is none any more: look again.
      if (codeOf(error) === "EINVAL" || codeOf(error) === "ENOENT") return name;
      throw error;
    });
    if (!target.startsWith("/")) return [...walked, ...steps(target), ...rest];
    const root = [rootReal, this.root === "/" ? "" : this.root].find((one) => isWithin(target, one));
    if (root === undefined)
      throw fileError("outside", path, "a link on its way leads out of the workspace (PATH_OUTSIDE_ROOT).");
    return [...steps(target.slice(root.length)), ...rest];
  }
}

interface Way {
  walked: readonly string[];
  rest: readonly string[];
  rootReal: string;
}

const steps = (path: string): string[] => namesOf(path).filter((name) => name !== ".");

/** One up. Above the root it has to come back by the root's own names: anything else is outside, and is not looked at. */
function climb(path: string, { walked, rest, rootReal }: Way): string[] {
  if (walked.length > 0) return [...walked.slice(0, -1), ...rest];
  const root = namesOf(rootReal);
  let depth = Math.max(root.length - 1, 0);
  const names = [...rest];
  while (depth < root.length) {
    const name = names.shift();
    if (name === "..") depth = Math.max(depth - 1, 0);
    else if (name !== undefined && name === root[depth]) depth++;
    else throw fileError("outside", path, "a link on its way leads out of the workspace (PATH_OUTSIDE_ROOT).");
  }
  return names;
}
