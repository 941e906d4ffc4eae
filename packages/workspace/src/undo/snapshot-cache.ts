import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { makePrivate } from "../private-folder.ts";
import { Packs } from "./pack.ts";
import { pictureFrom, textOf, type Picture } from "./snapshot.ts";

/** An album that nobody has used for so long is thrown away. */
const LASTS_MS = 7 * 24 * 60 * 60 * 1_000;
/** What packs may take before a new album is begun: contents that have changed since are never taken out of one. */
const FULL_BYTES = 1024 * 1024 * 1024;
const PICTURE = ".picture";
const ALBUM = /^[0-9a-f]{16}-[\w-]{12}$/;

/** Where albums are put. */
export interface Shelf {
  folder: string;
  /** What the pictures are of: albums of one workspace are not mixed with those of another. */
  of: string;
}

/**
 * Where pictures are kept, in a folder of the user's own, so that a process that is started later need not read every file again, and
 * can tell what a command did that died with the one before. It is only a cache: whatever is wrong with it, a new one is begun.
 */
export class Album {
  readonly folder: string;
  readonly packs: Packs;

  private constructor(folder: string) {
    this.folder = folder;
    this.packs = new Packs(dirname(folder), basename(folder));
  }

  /** One that is known by its name. Throws if it is of something else. */
  static named(name: string, { folder, of }: Shelf): Album {
    if (!ALBUM.test(name) || !name.startsWith(`${titleOf(of)}-`)) throw new Error("The picture is of another folder.");
    return new Album(join(folder, name));
  }

  /** Whether it has taken so much that another one is to be begun. */
  get isFull(): boolean {
    return this.packs.size > FULL_BYTES;
  }

  /** The one in use, or a new one. Those that nobody has used for long go, whatever they are of. */
  static async open({ folder, of }: Shelf): Promise<Album> {
    await makePrivate(folder);
    const albums = await albumsIn(folder);
    const isOld = ({ at }: { at: number }) => Date.now() - at > LASTS_MS;
    await Promise.all(albums.filter(isOld).map((old) => rm(old.path, { recursive: true, force: true })));
    const title = titleOf(of);
    const own = albums.filter((album) => !isOld(album) && basename(album.path).startsWith(`${title}-`));
    const [newest] = own.toSorted((a, b) => b.at - a.at);
    if (newest && (await sizeOf(newest.path)) < FULL_BYTES) return new Album(newest.path);
    const path = join(folder, `${title}-${randomBytes(9).toString("base64url")}`);
    await mkdir(path, { mode: 0o700 });
    return new Album(path);
  }

  /** Says that it is in use. False if it is not there any more. */
  async touch(): Promise<boolean> {
    const now = new Date();
    return utimes(this.folder, now, now).then(
      () => true,
      () => false,
    );
  }

  /** The newest picture that anybody has put here; one of nothing, if there is none. */
  async newest(): Promise<Picture> {
    const nothing: Picture = { at: 0, files: new Map() };
    const names = (await readdir(this.folder)).filter((name) => name.endsWith(PICTURE));
    const found = await Promise.all(
      names.map(async (name) => ({ name, at: (await stat(join(this.folder, name)).catch(() => null))?.mtimeMs ?? 0 })),
    );
    const [last] = found.toSorted((a, b) => b.at - a.at);
    return last ? await this.load(last.name.slice(0, -PICTURE.length)).catch(() => nothing) : nothing;
  }

  async save(picture: Picture): Promise<string> {
    const name = randomBytes(9).toString("base64url");
    const path = this.#at(name);
    // Whole, or not there.
    await writeFile(`${path}.new`, textOf(picture), { mode: 0o600 });
    await rename(`${path}.new`, path);
    return name;
  }

  async load(name: string): Promise<Picture> {
    return pictureFrom(await readFile(this.#at(name), "utf8"));
  }

  /** Says that what comes after this picture is still going on. */
  async mark(name: string): Promise<void> {
    const now = new Date();
    await utimes(this.#at(name), now, now).catch(() => undefined);
  }

  /** When that was said last, in ms. */
  async marked(name: string): Promise<number> {
    return (await stat(this.#at(name))).mtimeMs;
  }

  #at(name: string): string {
    if (!/^[\w-]+$/.test(name)) throw new Error("That is no picture.");
    return join(this.folder, `${name}${PICTURE}`);
  }

  /** Leaves a picture for the next process to begin with. Of those there is only one. */
  async leave(name: string): Promise<void> {
    await rename(this.#at(name), this.#at("index")).catch(() => undefined);
  }

  async drop(name: string): Promise<void> {
    await unlink(this.#at(name)).catch(() => undefined);
  }
}

const titleOf = (of: string): string => createHash("sha256").update(of).digest("hex").slice(0, 16);

/** With when each was last used. */
async function albumsIn(folder: string): Promise<{ path: string; at: number }[]> {
  const names = (await readdir(folder)).filter((name) => ALBUM.test(name));
  const paths = names.map((name) => join(folder, name));
  return Promise.all(
    paths.map(async (path) => ({ path, at: (await stat(path).catch(() => null))?.mtimeMs ?? Date.now() })),
  );
}

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder);
  const sizes = names.map(async (name) => (await stat(join(folder, name)).catch(() => null))?.size ?? 0);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
