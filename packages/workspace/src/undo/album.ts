import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Packs } from "./pack.ts";
import { pictureFrom, textOf, type Picture } from "./picture.ts";

/** An album that nobody has used for so long is thrown away. */
const LASTS_MS = 7 * 24 * 60 * 60 * 1_000;
/** What packs may take before a new album is begun: contents that have changed since are never taken out of one. */
const FULL_BYTES = 1024 * 1024 * 1024;
const PICTURE = ".picture";

/**
 * Where pictures are kept, in a folder of the user's own, so that a process that is started later need not read every file again, and
 * can tell what a command did that died with the one before. It is only a cache: whatever is wrong with it, a new one is begun.
 */
export class Album {
  readonly folder: string;
  readonly packs: Packs;

  private constructor(folder: string) {
    this.folder = folder;
    this.packs = new Packs(folder);
  }

  /** One that is known by its name. */
  static at(folder: string): Album {
    return new Album(folder);
  }

  /** The one in use, or a new one. */
  static async open(shelf: string): Promise<Album> {
    await mkdir(shelf, { recursive: true, mode: 0o700 });
    const albums = await used(shelf);
    await Promise.all(
      albums
        .filter(({ at }) => Date.now() - at > LASTS_MS)
        .map(({ folder }) => rm(folder, { recursive: true, force: true })),
    );
    const newest = albums.filter(({ at }) => Date.now() - at <= LASTS_MS).toSorted((a, b) => b.at - a.at)[0];
    if (newest && (await sizeOf(newest.folder)) < FULL_BYTES) return new Album(newest.folder);
    const folder = join(shelf, randomBytes(9).toString("base64url"));
    await mkdir(folder, { mode: 0o700 });
    return new Album(folder);
  }

  /** Says that it is in use. */
  async touch(): Promise<void> {
    await utimes(this.folder, new Date(), new Date());
  }

  /** The newest picture that anybody has put here. */
  async newest(): Promise<Picture> {
    const names = (await readdir(this.folder)).filter((name) => name.endsWith(PICTURE));
    const found = await Promise.all(
      names.map(async (name) => ({ name, at: (await stat(join(this.folder, name)).catch(() => null))?.mtimeMs ?? 0 })),
    );
    const [last] = found.toSorted((a, b) => b.at - a.at);
    return last ? await this.load(last.name.slice(0, -PICTURE.length)).catch(() => new Map()) : new Map();
  }

  async save(picture: Picture): Promise<string> {
    const name = randomBytes(9).toString("base64url");
    const path = join(this.folder, `${name}${PICTURE}`);
    // Whole, or not there.
    await writeFile(`${path}.new`, textOf(picture), { mode: 0o600 });
    await rename(`${path}.new`, path);
    return name;
  }

  async load(name: string): Promise<Picture> {
    return pictureFrom(await readFile(join(this.folder, `${name}${PICTURE}`), "utf8"));
  }

  async drop(name: string): Promise<void> {
    await unlink(join(this.folder, `${name}${PICTURE}`)).catch(() => undefined);
  }
}

async function used(shelf: string): Promise<{ folder: string; at: number }[]> {
  const folders = (await readdir(shelf)).map((name) => join(shelf, name));
  return Promise.all(
    folders.map(async (folder) => ({ folder, at: (await stat(folder).catch(() => null))?.mtimeMs ?? 0 })),
  );
}

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder);
  const sizes = names.map(async (name) => (await stat(join(folder, name)).catch(() => null))?.size ?? 0);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
