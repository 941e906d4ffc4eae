import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import type { Backend, Reach, TreeFile } from "../backend.ts";
import { FileError } from "../file-error.ts";
import { Album, type Shelf } from "./album.ts";
import type { Kept } from "./pack.ts";
import { HASHED_BYTES, isSame, unreadHash, type Picture, type Pictured } from "./picture.ts";

/** More files than that are not looked at before and after each command. */
export const MAX_FILES = 20_000;
/** Contents up to this size are put aside; of what is larger only the hash is known. */
export const KEPT_BYTES = 8 * 1024 * 1024;

/** A picture that is on the disk for as long as somebody may need it. */
export interface Saved {
  name: string;
  picture: Picture;
}

/** Takes pictures of all files of a workspace. Only what has changed since the last one is read. */
export class Camera {
  readonly #backend: Backend;
  readonly #shelf: Shelf;
  readonly #users = new Map<string, number>();
  #album: Promise<Album> | undefined;
  #known: Picture | undefined;
  #last: Saved | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(backend: Backend, shelf: Shelf) {
    this.#backend = backend;
    this.#shelf = shelf;
  }

  take(reach: Reach): Promise<Picture> {
    return this.#alone(() => this.#take(reach));
  }

  /** Takes one that can be had again after a crash, by its name, until it is given back. */
  takeAndSave(reach: Reach): Promise<Saved> {
    return this.#alone(async () => {
      const picture = await this.#take(reach);
      const last = this.#last;
      const saved = last && isSame(last.picture, picture) ? last : await this.#save(await this.#open(), picture);
      this.#users.set(saved.name, (this.#users.get(saved.name) ?? 0) + 1);
      this.#last = saved;
      if (last && last !== saved) await this.#drop(last.name);
      return saved;
    });
  }

  async giveBack(name: string): Promise<void> {
    await this.#alone(async () => {
      this.#users.set(name, (this.#users.get(name) ?? 1) - 1);
      // The newest stays, for the next process to begin with.
      if (name !== this.#last?.name) await this.#drop(name);
    });
  }

  /** One that another process has saved. Rejects if it is gone. */
  async find(name: string): Promise<Picture> {
    const [album = "", picture = ""] = name.split("/");
    if (!/^[\w-]+\/[\w-]+$/.test(name)) throw new Error("That is no picture.");
    return Album.at(join(this.#shelf.folder, album)).load(picture);
  }

  /** What a file held; `undefined` if that was not put aside, or is not there any more. */
  async contents({ kept, size, hash }: Pictured): Promise<Uint8Array | undefined> {
    const bytes = kept && (await (await this.#open()).packs.get(kept, size));
    return bytes && sha256(bytes) === hash ? bytes : undefined;
  }

  async close(): Promise<void> {
    await this.#alone(async () => (await this.#album?.catch(() => undefined))?.packs.close());
  }

  async #take(reach: Reach): Promise<Picture> {
    const album = await this.#inUse();
    const { files: known } = (this.#known ??= await album.newest());
    const at = Date.now();
    const files = new Map<string, Pictured>();
    for await (const file of this.#backend.tree?.(reach) ?? []) {
      const was = known.get(file.path);
      const isKnown = was?.version === file.version && !was.fresh;
      const now = isKnown ? was : await this.#pictured(file, was);
      if (now) files.set(file.path, now);
      if (files.size > MAX_FILES)
        throw new Error(`There are more than ${MAX_FILES} files, so what commands change can't be told.`);
    }
    this.#known = { at, files };
    return this.#known;
  }

  /** `null` if it went away. */
  async #pictured(file: TreeFile, was: Pictured | undefined): Promise<Pictured | null> {
    const looked = await lookAt(file);
    if (!looked) return null;
    const { hash, size, bytes } = looked;
    const { version, mode, settled, touched } = file;
    const kept = bytes && (was?.hash === hash && was.kept ? was.kept : await this.#keep(bytes));
    return {
      version,
      hash,
      size,
      ...(mode === undefined ? {} : { mode }),
      ...(touched === undefined ? {} : { touched }),
      ...(kept ? { kept } : {}),
      ...(settled ? {} : { fresh: true }),
    };
  }

  async #keep(bytes: Uint8Array): Promise<Kept> {
    return (await this.#open()).packs.put(bytes);
  }

  async #save(album: Album, picture: Picture): Promise<Saved> {
    return { name: `${basename(album.folder)}/${await album.save(picture)}`, picture };
  }

  async #drop(name: string): Promise<void> {
    if ((this.#users.get(name) ?? 0) > 0) return;
    this.#users.delete(name);
    await (await this.#open()).drop(basename(name));
  }

  /** If somebody has removed it, another one. */
  async #inUse(): Promise<Album> {
    const album = await this.#open();
    if (await album.touch()) return album;
    await album.packs.close();
    this.#album = undefined;
    this.#known = undefined;
    this.#last = undefined;
    return this.#open();
  }

  #open(): Promise<Album> {
    this.#album ??= Album.open(this.#shelf);
    // A folder that can't be made now may be made later.
    this.#album.catch(() => (this.#album = undefined));
    return this.#album;
  }

  #alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}

interface Looked {
  hash: string;
  size: number;
  /** If they are few enough to be put aside. */
  bytes?: Uint8Array;
}

async function lookAt(file: TreeFile): Promise<Looked | null> {
  const unread = { hash: unreadHash(file), size: file.size };
  if (file.size > HASHED_BYTES) return unread;
  const hash = createHash("sha256");
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of file.contents()) {
      hash.update(chunk);
      size += chunk.length;
      if (size <= KEPT_BYTES) chunks.push(new Uint8Array(chunk));
      else chunks.length = 0;
    }
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return error.problem === "not_found" || error.problem === "changed" ? null : unread;
  }
  const looked = { hash: hash.digest("hex"), size };
  return size <= KEPT_BYTES ? { ...looked, bytes: Buffer.concat(chunks) } : looked;
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
