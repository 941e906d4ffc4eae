import type { ThreadFiles, WorkspaceHost } from "@cinch/core/workspace";
import type { FileError } from "./file-error.ts";

/** A file or directory as listings show it. Paths are workspace paths: they begin with "/", separate names by "/", and hold no "..". */
export interface Entry {
  path: string;
  type: "file" | "directory";
  /** In bytes; 0 for a directory. */
  size: number;
  /** The time of the last change, in ms. */
  modified: number;
  /** The target, if it is a link. All other fields describe the target. */
  target?: string;
}

export interface Stat extends Entry {
  /** Changes whenever the contents change, seen from any process. The same contents may have different versions. */
  version: string;
  /** The permission bits (the low nine bits of the mode), if the backend has them. */
  mode?: number;
}

/** A file or a link in a snapshot. */
export interface TreeFile extends Stat {
  /** It is a link. The other fields describe the link, not its target. */
  link?: boolean;
  /** False right after a change: another change might not change the version. */
  settled: boolean;
  /** The time of the last change of contents, attributes or name, in ms, if known. */
  touched?: number;
  /** The time of its creation, in ms, if known. */
  born?: number;
  /** Identifies the file under any name, if known. */
  identity?: string;
  /** Must be called before the iteration continues. */
  contents(): AsyncIterable<Uint8Array>;
}

/** What exists at a path, without following any link. */
export type Sight = { path: string } & (
  | { kind: "file"; file: TreeFile }
  | { kind: "directory" | "link" | "nothing" }
  /** `by`: the first file or link on the way to the path. */
  | { kind: "blocked"; by: string }
  /** It can't be examined, or it is not a file, directory or link. */
  | { kind: "failed"; error: FileError }
);

/** One change of a `writeAll`. */
export interface SmallWrite {
  path: string;
  /** As in `WriteOptions`. */
  ifVersion: string | null;
  /** `null`: delete the file. */
  content: Uint8Array | null;
  mode?: number;
}

/** On whose behalf a call is made: some backends keep the files of threads or resources apart. */
export interface Reach {
  threadId: string;
  resourceId: string;
  /** The files in the journal of the thread, during a turn. */
  files?: ThreadFiles;
  /**
   * Aborts the call. A call with a signal that is already aborted rejects with its `reason` and does nothing. A running call rejects with
   * it at the next chunk, entry or match. An aborted write leaves the file as it was.
   */
  signal?: AbortSignal;
  /** The path came from `resolve` and was judged. A link on its way was put there since: it is not followed, the call rejects with `changed`. */
  direct?: boolean;
}

/**
 * Bytes from `start` (default 0) up to, and not including, `end` (default: the end of the file). A range that extends beyond the end of
 * the file gives the bytes that exist. One that begins there, is empty or reversed gives none. A negative or fractional number is
 * `invalid`.
 */
export interface Range {
  start?: number;
  end?: number;
}

export interface WriteOptions {
  /** Write only if the file still has this version; `null`: only if there is no file. Otherwise the write rejects with `changed`. */
  ifVersion?: string | null;
  /** As in `Stat`. Omitted: the file keeps its mode. Backends without modes ignore it. */
  mode?: number;
}

export interface DeleteOptions {
  /** Delete only a file that still has this version. Otherwise `changed`. */
  ifVersion?: string;
  /** Delete only a directory that holds nothing but directories, at any depth, including entries that listings omit. Otherwise `changed`. */
  ifEmpty?: boolean;
  /** Delete only a link. Otherwise `changed`. */
  ifLink?: boolean;
}

/**
 * Finds files, not directories. Links are not followed, except in `path` and in the literal names at the beginning of the pattern.
 * Folders that an ignore file (`.gitignore`, `.ignore`) excludes, `.git` and `node_modules` are omitted, unless the pattern or `path`
 * names them.
 */
export interface GlobQuery {
  /** "**" + "/" also matches no folder at all, and names that begin with a dot match. See `glob.ts` for the syntax. */
  pattern: string;
  /** The directory to search. The pattern is relative to it; one that begins with "/" applies to the whole path. */
  path: string;
}

/** Searches the files that `glob` would find, except those that an ignore file excludes by name and those that are not text. */
export interface GrepQuery {
  /** Matched line by line. An unusable one is `invalid`. */
  pattern: string;
  /** A file, or a directory with everything in it. */
  path: string;
  /** Only files that match: by name if it holds no "/", else by path. With "!" in front, only files that don't match. */
  glob?: string;
  /** Whether the pattern is a regular expression (ripgrep's syntax, without look-around); otherwise it is plain text. */
  regex: boolean;
  ignoreCase: boolean;
  /** The caller needs only the number of matching lines for each file. A backend may give the lines all the same. */
  counts?: boolean;
}

/** A matching line. */
export interface GrepMatch {
  path: string;
  /** From 1. */
  line: number;
  /** The first 2,000 characters. */
  text: string;
  /** Only with `counts`: stands for this many lines of the file; `line` and `text` are meaningless. */
  count?: number;
}

/**
 * Where the files of a workspace live. The tools use only these calls. `backendConformance` of the testkit tests the whole contract:
 *
 * - **Paths** come normalised (see `paths.ts`). "/" is the root and always a directory. Nothing exists below a file.
 * - **Failures** are `FileError`s, whose messages are for the model: they name the path and what to do next.
 * - **Abort**: see `Reach.signal`. Every call obeys it, including searches and streams.
 * - **Copies**: backend and caller never share memory. A reader may overwrite a chunk that it got, a writer may reuse a chunk that it
 *   gave, and neither changes the file.
 * - **Streams**: contents may be larger than memory. A backend does not load whole files, and skips the bytes before a range if it can.
 *   A reader that stops early leaves nothing open.
 * - **Isolation**: a file changes as a whole or not at all. Readers see the old contents until a write has ended. A reader that has
 *   started sees one version to the end.
 */
export interface Backend {
  /** Its files are on this machine, or in this process, alone; default: false. */
  readonly isLocal?: boolean;
  /** The direct entries of a directory, in any order. Rejects with `not_found`, or with `not_a_directory` for a file. */
  list(path: string, reach: Reach): Promise<Entry[]>;
  /** `null` if nothing exists there. */
  stat(path: string, reach: Reach): Promise<Stat | null>;
  /** The bytes of a file, or a range of them, in chunks of any size. Rejects with `not_found`, or `is_a_directory`. */
  read(path: string, range: Range, reach: Reach): AsyncIterable<Uint8Array>;
  /**
   * Creates or replaces a file, with the directories above it, and keeps its mode. Returns the new `stat`. If the contents fail midway,
   * nothing changes and no directory is created.
   *
   * `ifVersion` is checked before the contents are read and again at the moment of the change: of several writes that depend on one
   * version exactly one succeeds, and the others reject with `changed`. Rejects with `is_a_directory` for a directory, with
   * `not_a_directory` below a file.
   */
  write(path: string, content: AsyncIterable<Uint8Array>, options: WriteOptions, reach: Reach): Promise<Stat>;
  /**
   * Deletes a file, a directory with everything in it, or a link (not its target). Rejects with `not_found` if nothing exists, with
   * `denied` for the root, with `changed` if a condition does not hold.
   */
  delete(path: string, reach: Reach, options?: DeleteOptions): Promise<void>;
  /**
   * Matching files, in any order, never outside `path`. Ends when the reader stops reading. No pattern may block the process.
   * `globFiles` implements it for any backend with `list`, `stat` and `read`.
   */
  glob(query: GlobQuery, reach: Reach): AsyncIterable<Entry>;
  /** Matching lines, under the same conditions. `grepFiles` implements it for any backend with `list`, `stat` and `read`. */
  grep(query: GrepQuery, reach: Reach): AsyncIterable<GrepMatch>;
  /** The path with every link resolved, also for a missing file. Rules judge it too. Backends without links omit it. */
  resolve?(path: string, reach: Reach): Promise<string>;
  /** Every file that no ignore file excludes. Called around each command, so it should be fast. Optional if no command reaches them. */
  tree?(reach: Reach): AsyncIterable<TreeFile>;
  /** What exists at each of these paths, in any order. Undo asks for thousands at a time. Default: by `resolve` and `stat`. */
  look?(paths: readonly string[], reach: Reach): AsyncIterable<Sight>;
  /** The paths of everything below a directory but directories, also of what listings omit. Default: by `list`. */
  inside?(path: string, reach: Reach): AsyncIterable<string>;
  /** `write` and `delete` for many small files. Returns the error of each, or `null`, in order. Default: one by one. */
  writeAll?(files: readonly SmallWrite[], reach: Reach): Promise<(Error | null)[]>;
  /** The paths of a real file or folder of the machine, also of a missing one. Backends without real files omit it. */
  whereIs?(real: string): Promise<string[]>;
  /** Called when the workspace is opened. A backend around others forwards it. */
  open?(host: WorkspaceHost): Promise<void>;
  close?(): Promise<void>;
}
