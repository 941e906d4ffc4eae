import type { ThreadFiles, WorkspaceHost } from "@cinch/core";
import type { FileError } from "./file-error.ts";

/** A file or directory as lists show it. Paths are the workspace's own: they begin at "/", with "/" between names, and hold no "..". */
export interface Entry {
  path: string;
  type: "file" | "directory";
  /** In bytes; 0 for a directory. */
  size: number;
  /** When it was last changed, in ms. */
  modified: number;
  /** Where it leads, if it is a link; everything else here is said of that. */
  target?: string;
}

export interface Stat extends Entry {
  /** Changes whenever the contents change, seen from any process. The same contents may have different versions. */
  version: string;
  /** Who may read, write and run it, where there is such a thing: the last nine bits of what a disk calls its mode. */
  mode?: number;
}

/** A file, or a link, as a picture of everything has it. */
export interface TreeFile extends Stat {
  /** Nothing is said of what it leads to. */
  link?: boolean;
  /** False if it was changed just now, so that another change might not show in its version. */
  settled: boolean;
  /** When anything of it was last changed, its name included, in ms; if that is known. */
  touched?: number;
  /** When it came to be, under whatever name, in ms, and what it is called by then on; if that is known. */
  born?: number;
  identity?: string;
  /** To be asked for before the next file is. */
  contents(): AsyncIterable<Uint8Array>;
}

/** What stands under a path itself, without following any link. */
export type Sight = { path: string } & (
  | { kind: "file"; file: TreeFile }
  | { kind: "directory" | "link" | "nothing" }
  /** `by`: the first name on its way that is a file or a link. */
  | { kind: "blocked"; by: string }
  /** It can't be told, or it is no file, directory or link. */
  | { kind: "failed"; error: FileError }
);

/** A change of one file, among many. */
export interface SmallWrite {
  path: string;
  /** As in `WriteOptions`. */
  ifVersion: string | null;
  /** `null`: the file is deleted. */
  content: Uint8Array | null;
  mode?: number;
}

/** Who acts: some backends keep files apart by thread or by resource. */
export interface Reach {
  threadId: string;
  resourceId: string;
  /** The files of the thread itself, where it is in a turn. */
  files?: ThreadFiles;
  /**
   * Aborts the call. A call with a signal that is aborted already rejects with its `reason` and does nothing. One that is aborted under
   * way rejects with it at the next chunk, entry or match; a write that is aborted leaves the file as it was.
   */
  signal?: AbortSignal;
  /** The path is one that `resolve` gave, and was judged: a link on its way has come there since, and is not followed but `changed`. */
  direct?: boolean;
}

/**
 * Bytes from `start` (default 0) up to, and not including, `end` (default: the end of the file). A range that reaches beyond the end of
 * the file gives the bytes that exist; one that begins there, or is empty or reversed, gives none. A number that is negative or not an
 * integer is `invalid`.
 */
export interface Range {
  start?: number;
  end?: number;
}

export interface WriteOptions {
  /** Only if the file is still of this version; `null`: only if there is none. Left out: whatever is there. Otherwise `changed`. */
  ifVersion?: string | null;
  /** As in `Stat`. Left out: the file keeps its own. Where there is no such thing, it is passed over. */
  mode?: number;
}

export interface DeleteOptions {
  /** Only if it is a file, and still of this version. Otherwise `changed`. */
  ifVersion?: string;
  /** Only if it is a directory in which nothing but directories is, at any depth, whatever a list shows. Otherwise `changed`. */
  ifEmpty?: boolean;
  /** Only if it is a link. Otherwise `changed`. */
  ifLink?: boolean;
}

/**
 * Gives files, no directories. Links are not followed, except by `path` itself and by the names that a pattern begins with. Folders
 * that an ignore file (`.gitignore`, `.ignore`) excludes, `.git` and `node_modules` are left out, unless the pattern or `path` names
 * them.
 */
export interface GlobQuery {
  /** "**" + "/" also matches no folder at all, and names that begin with a dot match. For the rest see `glob.ts`. */
  pattern: string;
  /** Where to begin, a directory. The pattern is relative to it; one that begins with "/" is for the whole path. */
  path: string;
}

/** Looks at the files that `glob` would find, without those that an ignore file excludes by name, and without those that are not text. */
export interface GrepQuery {
  /** For one line at a time. One that can't be used is `invalid`. */
  pattern: string;
  /** A file, or a directory with everything in it. */
  path: string;
  /** Only files that fit: by name if there is no "/" in it, else by path. With "!" in front, only those that don't. */
  glob?: string;
  /** Whether the pattern is a regular expression (ripgrep's syntax, without look-around); otherwise it is plain text. */
  regex: boolean;
  ignoreCase: boolean;
  /** It is enough to say of each file how many lines fit. Who gives the lines is right all the same. */
  counts?: boolean;
}

/** A line that fits. */
export interface GrepMatch {
  path: string;
  /** From 1. */
  line: number;
  /** The beginning of it, up to 2,000 characters. */
  text: string;
  /** This stands for so many lines of the file, and says nothing of any of them: only where `counts` was asked for. */
  count?: number;
}

/**
 * Where files live. Everything that tools do to files goes through these few calls, so that a backend can be anything.
 * `backendConformance` of the testkit tests everything that is said here. Every call keeps this:
 *
 * - **Paths** come normalised (see `paths.ts`). "/" is the root and always a directory. Nothing exists below a file.
 * - **Failures** are `FileError`s, whose messages are for the model: they name the path and what to do next.
 * - **Abort**: see `Reach.signal`. Every call obeys it, searches and streams too.
 * - **Copies**: bytes never share memory across the border. A chunk that a reader got may be overwritten by the reader, a chunk that a
 *   writer gave may be reused by the writer, and neither changes the file.
 * - **Streams**: contents may be larger than memory. A backend holds no whole file that it does not keep in memory anyway, and reads no
 *   byte before the start of a range if it can avoid that. A reader that stops early leaves nothing open.
 * - **Isolation**: a file changes as a whole or not at all. Readers see the old contents until a write has ended, and a reader that has
 *   begun sees one version to its end.
 */
export interface Backend {
  /** What is directly in a directory, in any order. Rejects with `not_found`, or with `not_a_directory` for a file. */
  list(path: string, reach: Reach): Promise<Entry[]>;
  /** `null`: nothing exists there, which is no failure. */
  stat(path: string, reach: Reach): Promise<Stat | null>;
  /** The bytes of a file, or a range of them, in chunks of any size. Rejects with `not_found`, or `is_a_directory`. */
  read(path: string, range: Range, reach: Reach): AsyncIterable<Uint8Array>;
  /**
   * Creates or replaces a file, with the directories above it, and keeps its mode. Gives what `stat` gives then. If the contents break
   * off, nothing has changed, and no directory was made.
   *
   * A condition (`ifVersion`) is checked before the contents are read, and again at the moment of the change: of several writes that
   * depend on one version exactly one wins, and the others reject with `changed`. Rejects with `is_a_directory` for a directory, with
   * `not_a_directory` below a file.
   */
  write(path: string, content: AsyncIterable<Uint8Array>, options: WriteOptions, reach: Reach): Promise<Stat>;
  /**
   * Deletes a file, a directory with everything in it, or of a link the link itself. Rejects with `not_found` where nothing exists,
   * with `denied` for the root, with `changed` if a condition does not hold.
   */
  delete(path: string, reach: Reach, options?: DeleteOptions): Promise<void>;
  /**
   * Files whose path fits, in any order, never outside of `path`. Ends when the reader stops reading. No pattern may block the process.
   * `globFiles` does all of it for a backend that has `list`, `stat` and `read`.
   */
  glob(query: GlobQuery, reach: Reach): AsyncIterable<Entry>;
  /** Lines that fit, under the same conditions. `grepFiles` does all of it for a backend that has `list`, `stat` and `read`. */
  grep(query: GrepQuery, reach: Reach): AsyncIterable<GrepMatch>;
  /**
   * The path under which a file really lies, with every link on the way resolved, also for one that does not exist yet. Rules are held
   * against this one too. Backends without links leave it out.
   */
  resolve?(path: string, reach: Reach): Promise<string>;
  /**
   * Every file that no ignore file excludes. Asked before and after each command, to tell what that has changed, so it should be quick.
   * A backend whose files no command can reach leaves it out.
   */
  tree?(reach: Reach): AsyncIterable<TreeFile>;
  /**
   * What stands under each of these paths, in any order. Undo asks for thousands at a time, so it should be quick. Without it, `resolve`
   * and `stat` are asked.
   */
  look?(paths: readonly string[], reach: Reach): AsyncIterable<Sight>;
  /**
   * The paths of everything below a directory that is no directory itself, also of what lists leave out. Without it, `list` is asked.
   */
  inside?(path: string, reach: Reach): AsyncIterable<string>;
  /**
   * Does what `write` and `delete` do, for many small files at once. Gives for each, in order, what went wrong, or `null`. Without it,
   * they are written one by one.
   */
  writeAll?(files: readonly SmallWrite[], reach: Reach): Promise<(Error | null)[]>;
  /**
   * The paths that a real file or folder of this machine has here, also one that does not exist yet. Backends that show nothing of the
   * machine leave it out.
   */
  whereIs?(real: string): Promise<string[]>;
  /** Called when the workspace is opened. A backend around others passes it on. */
  open?(host: WorkspaceHost): Promise<void>;
  close?(): Promise<void>;
}
