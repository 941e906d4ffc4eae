import { createHash } from "node:crypto";
import { basename } from "node:path";
import type { Backend, Reach, TreeFile } from "../backend.ts";
import { FileError } from "../file-error.ts";
import { Pace } from "../pace.ts";
import { Album, type Shelf } from "./snapshot-cache.ts";
import type { Kept } from "./pack.ts";
import { HASHED_BYTES, LINK, unreadHash, type Picture, type Pictured } from "./snapshot.ts";

/** More files than that are not looked at before and after each command. */
export const MAX_FILES = 20_000;
/** Contents up to this size are put aside; of what is larger only the hash is known. */
export const KEPT_BYTES = 8 * 1024 * 1024;
/** The same for all that one picture has to read. */
const KEPT_IN_ALL = 512 * 1024 * 1024;
const HASHED_IN_ALL = 2 * 1024 * 1024 * 1024;
/** How long there are taken to be too many files once there were. */
const TOO_MANY_MS = 60_000;
/** How often it is noted that a command still runs. */
const MARK_MS = 200;

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
  #tooManyAt = -Infinity;

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
      const saved = await this.#save(await this.#open(), picture);
      this.#users.set(saved.name, 1);
      this.#last = saved;
      if (last) await this.#drop(last.name);
      return saved;
    });
  }

  /** Nobody needs it any more for what was begun with it. */
  async giveBack(name: string): Promise<void> {
    await this.#alone(async () => {
      this.#users.set(name, (this.#users.get(name) ?? 1) - 1);
      // The newest stays, for the next process to begin with.
      if (name !== this.#last?.name) await this.#drop(name);
    });
  }

  /** Notes that what was begun with this picture goes on, until it is told to stop. */
  keepMarked(name: string): () => void {
    const mark = () => {
      const marked = this.#open().then((album) => album.mark(basename(name)));
      marked.catch(() => undefined);
    };
    const timer = setInterval(mark, MARK_MS).unref();
    return () => clearInterval(timer);
  }

  /** One that another process has saved, and until when what was begun with it went on. Rejects if it is gone, or of something else. */
  async find(name: string): Promise<{ picture: Picture; until: number }> {
    const [title = "", picture = ""] = name.split("/");
    const album = Album.named(title, this.#shelf);
    return { picture: await album.load(picture), until: (await album.marked(picture)) + 2 * MARK_MS };
  }

  /** What a file held; `undefined` if that was not put aside, or is not there any more. */
  async contents({ kept, size, hash }: Pictured): Promise<Uint8Array | undefined> {
    const bytes = kept && (await (await this.#open()).packs.get(kept, size));
    return bytes && sha256(bytes) === hash ? bytes : undefined;
  }

  async close(): Promise<void> {
    await this.#alone(async () => {
      const album = await this.#album?.catch(() => undefined);
      await album?.packs.close();
      if (this.#last && (this.#users.get(this.#last.name) ?? 0) === 0) await album?.leave(basename(this.#last.name));
    });
  }

  async #take(reach: Reach): Promise<Picture> {
    const album = await this.#inUse();
    const { files: known } = (this.#known ??= await album.newest());
    await this.#checkNumber(reach, known);
    const files = new Map<string, Pictured>();
    const room = { kept: KEPT_IN_ALL, hashed: HASHED_IN_ALL };
    const pace = new Pace();
    for await (const file of this.#backend.tree?.(reach) ?? []) {
      await pace.rest();
      const was = known.get(file.path);
      const isKnown = was?.version === file.version && !was.fresh;
      const now = isKnown ? was : await this.#pictured(file, was, room);
      if (now) files.set(file.path, now);
      if (files.size > MAX_FILES) throw this.#tooMany();
    }
    this.#known = { at: Date.now(), files };
    return this.#known;
  }

  /** Before anything is read: to find out after ten thousand files that there are too many would take long, and each time again. */
  async #checkNumber(reach: Reach, known: Picture["files"]): Promise<void> {
    if (Date.now() - this.#tooManyAt < TOO_MANY_MS) throw this.#tooMany(this.#tooManyAt);
    if (known.size > 0) return;
    let count = 0;
    for await (const _ of this.#backend.tree?.(reach) ?? []) if (++count > MAX_FILES) throw this.#tooMany();
  }

  #tooMany(since = Date.now()): Error {
    this.#tooManyAt = since;
    return new Error(`there are more than ${MAX_FILES} files that no ignore file excludes.`);
  }

  /** `null` if it went away. */
  async #pictured(file: TreeFile, was: Pictured | undefined, room: Room): Promise<Pictured | null> {
    const looked = await lookAt(file, room);
    if (!looked) return null;
    const { hash, size, bytes } = looked;
    const { version, mode, settled, touched, born, identity } = file;
    room.hashed -= size;
    room.kept -= bytes?.length ?? 0;
    const kept = bytes && (was?.hash === hash && was.kept ? was.kept : await this.#keep(bytes));
    return {
      version,
      hash,
      size,
      ...(mode === undefined ? {} : { mode }),
      ...(touched === undefined ? {} : { touched }),
      ...(born === undefined ? {} : { born }),
      ...(identity === undefined ? {} : { identity }),
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
    const [title = "", picture = ""] = name.split("/");
    await Album.named(title, this.#shelf).drop(picture);
  }

  /** If somebody has removed it, or if it is full, another one. */
  async #inUse(): Promise<Album> {
    const album = await this.#open();
    if ((await album.touch()) && !album.isFull) return album;
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

/** How much may still be read for a picture. */
interface Room {
  kept: number;
  hashed: number;
}

async function lookAt(file: TreeFile, room: Room): Promise<Looked | null> {
  if (file.link) return { hash: LINK, size: 0 };
  const unread = { hash: unreadHash(file), size: file.size };
  const most = Math.min(HASHED_BYTES, room.hashed);
  const mostKept = Math.min(KEPT_BYTES, room.kept);
  if (file.size > most) return unread;
  const hash = createHash("sha256");
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of file.contents()) {
      hash.update(chunk);
      size += chunk.length;
      // It grows faster than it can be read.
      if (size > most) return unread;
      if (size <= mostKept) chunks.push(new Uint8Array(chunk));
      else chunks.length = 0;
    }
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return error.problem === "not_found" || error.problem === "changed" ? null : unread;
  }
  const looked = { hash: hash.digest("hex"), size };
  return size <= mostKept ? { ...looked, bytes: Buffer.concat(chunks) } : looked;
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
