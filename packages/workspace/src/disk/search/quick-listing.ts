import { lstatSync } from "node:fs";
import { readdir } from "node:fs/promises";
import type { Entry } from "../../backend.ts";
import { joinPath, joinPaths, namesOf, relativeTo } from "../../paths.ts";
import { isSliceOver, yieldIfDue } from "../../contents/pace.ts";
import { IGNORE_FILES } from "../../search/ignore.ts";
import type { Child } from "../../search/index.ts";
import { CLOCK_MS, type Subtree } from "./subtree.ts";
import { entryOf, kindOf } from "../folder.ts";
import { isTemporary } from "../temporary.ts";

/**
 * Lists the folders of a tree, with the stats of matching files.
 *
 * To list a folder by its real path takes half the time of holding it open, but another process may put a link on that path. That changes
 * the ctime of a folder, which can't be set back: so the listing is trusted if no folder between it and the root was touched since the
 * search began. Otherwise the folder is listed again, held open.
 */
export class QuickListing {
  readonly #below: Subtree;
  readonly #fits: (path: string) => boolean;
  readonly #since = Date.now() - CLOCK_MS;

  constructor(below: Subtree, fits: (path: string) => boolean) {
    this.#below = below;
    this.#fits = fits;
  }

  /** Omits files that don't match, except ignore files. */
  async children(path: string): Promise<Child<Entry>[]> {
    const isQuick = this.#below.start.confinement === "descriptors";
    return (isQuick ? await this.#quickly(path) : null) ?? (await this.#safely(path));
  }

  async #quickly(path: string): Promise<Child<Entry>[] | null> {
    const under = relativeTo(this.#below.path, path);
    const place = under === "" ? this.#below.start.real : `${this.#below.start.real}/${under}`;
    const children: Child<Entry>[] = [];
    try {
      for (const entry of await readdir(place || "/", { withFileTypes: true })) {
        if (isSliceOver()) await yieldIfDue();
        const { name } = entry;
        const kind = kindOf(entry);
        // Only the safe listing removes temporary files of dead processes.
        if (isTemporary(name)) return null;
        if (kind === "directory") children.push({ name, type: "directory" });
        if (kind !== "file") continue;
        const file = joinPath(path, name);
        const stats = this.#fits(file) ? lstatSync(`${place}/${name}`, { throwIfNoEntry: false }) : undefined;
        if (stats?.isFile()) children.push({ name, type: "file", fits: true, known: entryOf(file, stats) });
        else if (IGNORE_FILES.includes(name)) children.push({ name, type: "file", fits: false });
      }
    } catch {
      return null;
    }
    return this.#isInPlace(under) ? children : null;
  }

  /** The deepest folder first: if those above it are checked later and are untouched, it was checked in its place. */
  #isInPlace(under: string): boolean {
    const { start } = this.#below;
    const names = namesOf(joinPaths(start.path, under));
    const root = start.path === "/" ? start.real : start.real.slice(0, -start.path.length);
    for (let depth = names.length; depth >= 0; depth--) {
      const stats = lstatSync(`${root}/${names.slice(0, depth).join("/")}`, { throwIfNoEntry: false });
      if (!stats?.isDirectory() || stats.ctimeMs >= this.#since) return false;
    }
    return true;
  }

  async #safely(path: string): Promise<Child<Entry>[]> {
    const children = await this.#below.childrenWithStats(path);
    return children.flatMap(({ name, type, known }): Child<Entry>[] => {
      if (type === "directory") return [{ name, type }];
      const file = joinPath(path, name);
      if (!known?.isFile()) return [];
      if (this.#fits(file)) return [{ name, type, fits: true, known: entryOf(file, known) }];
      return IGNORE_FILES.includes(name) ? [{ name, type, fits: false }] : [];
    });
  }
}
