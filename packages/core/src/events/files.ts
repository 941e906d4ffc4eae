import * as z from "zod/mini";
import type { Blob } from "../ports/store.ts";

/** What a file held: the hash of all of it, and, where the store keeps its bytes, the pieces. */
export const FileVersion = z.object({
  hash: z.string(),
  size: z.number(),
  parts: z.optional(z.array(z.object({ blob: z.string(), size: z.number() }))),
  mode: z.optional(z.number()),
});
export type FileVersion = z.infer<typeof FileVersion>;

export const FileOperation = z.enum(["write", "edit", "delete", "command", "upload", "restore"]);
export type FileOperation = z.infer<typeof FileOperation>;

/** A change of a file, as the journal keeps it. `null`: there was none, or there is none any more. */
export const FileChange = z.object({
  path: z.string(),
  operation: FileOperation,
  before: z.nullable(FileVersion),
  after: z.nullable(FileVersion),
  /** What the backend calls the contents by now. */
  version: z.optional(z.string()),
  /** Where the file really lies, if a link led there. */
  real: z.optional(z.string()),
  /** The journal is where the file lives; otherwise it only tells of it. */
  held: z.optional(z.boolean()),
  /** Another thread's command ran at the same time, and may have done it. */
  shared: z.optional(z.boolean()),
  /** Part of a rewind of the whole thread: the file is again what the journal, as it is read from now on, says that it is. */
  rewound: z.optional(z.boolean()),
});
export type FileChange = z.infer<typeof FileChange>;

/** A file that has to be reverted, from its contents now to those then. `null`: the file does not, or did not, exist. */
export const FileRestore = z.object({
  path: z.string(),
  /** The hash of the contents now. If the file has other contents by then, it is left alone. */
  from: z.nullable(z.string()),
  to: z.nullable(FileVersion),
  /** The thread had seen then what the file held. */
  seen: z.optional(z.boolean()),
  /** The conversation goes back too. */
  rewound: z.optional(z.boolean()),
  /** As in `FileChange`. */
  shared: z.optional(z.boolean()),
});
export type FileRestore = z.infer<typeof FileRestore>;

/**
 * What a rewind did, or would do, to a file. `unchanged`: it has the earlier contents already. `conflict`: it has changes that are not the
 * thread's, so it was left alone. `lost`: the earlier contents were not kept. `failed`: see `detail`.
 */
export const RewoundFile = z.object({
  path: z.string(),
  outcome: z.enum(["restored", "deleted", "unchanged", "conflict", "lost", "failed"]),
  detail: z.optional(z.string()),
});
export type RewoundFile = z.infer<typeof RewoundFile>;

/** What became of a file, as a unified diff. */
export interface FileDiff {
  path: string;
  status: "added" | "modified" | "deleted";
  /** Empty where contents are not text, too large, or were not kept: then `note` says so. */
  diff: string;
  note?: string;
}

/** A file that lives in a journal. */
export interface HeldFile {
  version: FileVersion;
  /** Of the event that wrote it. */
  seq: number;
  at: number;
}

export type HeldFiles = Readonly<Record<string, HeldFile>>;

/** A journal as a place for files: that of a thread, or one that all threads of a resource share. */
export interface FileJournal {
  /** The files as they are by now. */
  held(): Promise<HeldFiles>;
  /** Deciding and appending are one step: `decide` runs again if another process appended first. False if there was nothing to record. */
  record(decide: (held: HeldFiles) => readonly FileChange[] | null, blobs?: readonly Blob[]): Promise<boolean>;
  blob(hash: string): Promise<Uint8Array | undefined>;
}

/** What a workspace is given of the thread in whose turn it acts. */
export interface ThreadFiles extends FileJournal {
  readonly resourceId: string;
  /** What the backend called the contents when this thread last read or wrote the file. */
  seen(path: string): string | undefined;
  /** Notes what was read: it is in the journal when the call has ended. */
  read(path: string, version: string): void;
  /** Records the name of the snapshot that the workspace took before a command, or why there is none. */
  checkpoint(about: { tree: string } | { untracked: string }): Promise<void>;
  /** Shows what a command prints (`shell_output`). */
  print(output: string, stream: "stdout" | "stderr"): void;
}
