import * as z from "zod/mini";
import type { Blob } from "../ports/store.ts";

/** The contents of a file: their hash, and the blobs with the bytes, if the store has them. */
export const FileVersion = z.lazy(() =>
  z.object({
    hash: z.string(),
    size: z.number(),
    parts: z.optional(z.array(z.object({ blob: z.string(), size: z.number() }))),
    mode: z.optional(z.number()),
  }),
);
export type FileVersion = z.infer<typeof FileVersion>;

export const FileOperation = z.enum(["write", "edit", "delete", "command", "upload", "restore"]);
export type FileOperation = z.infer<typeof FileOperation>;

/** A change of a file. `before` and `after` are `null` where the file does not exist. */
export const changeFields = () => ({
  path: z.string(),
  operation: FileOperation,
  before: z.nullable(FileVersion),
  after: z.nullable(FileVersion),
  /** The backend's version of the file after the change. */
  version: z.optional(z.string()),
  /** The real path of the file, if `path` goes through a link. */
  real: z.optional(z.string()),
  /** The file is stored in the journal. Without this, the event only records a change of a file elsewhere. */
  held: z.optional(z.boolean()),
  /** A command of another thread ran at the same time, and may have made the change. */
  shared: z.optional(z.boolean()),
  /** The change is part of a rewind of conversation and files. The file has again the contents that the remaining events record. */
  rewound: z.optional(z.boolean()),
});
export type FileChange = z.infer<z.ZodMiniObject<ReturnType<typeof changeFields>>>;

/** A file that has to be reverted, from its contents now to those then. `null`: the file does not, or did not, exist. */
export const FileRestore = z.lazy(() =>
  z.object({
    path: z.string(),
    /** The hash of the current contents. A file whose contents have changed by the time of the revert is left alone. */
    from: z.nullable(z.string()),
    to: z.nullable(FileVersion),
    /** The thread had seen the earlier contents. */
    seen: z.optional(z.boolean()),
    /** The conversation is rewound too. */
    rewound: z.optional(z.boolean()),
    /** As in `FileChange`. */
    shared: z.optional(z.boolean()),
  }),
);
export type FileRestore = z.infer<typeof FileRestore>;

/**
 * What a rewind did, or would do, to a file. `unchanged`: it has the earlier contents already. `conflict`: it has changes that are not the
 * thread's, so it was left alone. `lost`: the earlier contents were not kept. `failed`: see `detail`.
 */
export const RewoundFile = z.lazy(() =>
  z.object({
    path: z.string(),
    outcome: z.enum(["restored", "deleted", "unchanged", "conflict", "lost", "failed"]),
    detail: z.optional(z.string()),
  }),
);
export type RewoundFile = z.infer<typeof RewoundFile>;

/** The change of a file, as a unified diff. */
export interface FileDiff {
  path: string;
  status: "added" | "modified" | "deleted";
  /** Empty if the contents are not text, too large, or were not kept: `note` gives the reason. */
  diff: string;
  note?: string;
}

/** A file that is stored in a journal. */
export interface HeldFile {
  version: FileVersion;
  /** The `seq` of the event that wrote it. */
  seq: number;
  at: number;
}

export type HeldFiles = Readonly<Record<string, HeldFile>>;

/** A journal that stores files: that of one thread, or one that all threads of a resource share. */
export interface FileJournal {
  /** The current files. */
  held(): Promise<HeldFiles>;
  /** Deciding and appending are one step: `decide` runs again if another process appended first. False if there was nothing to record. */
  record(decide: (held: HeldFiles) => readonly FileChange[] | null, blobs?: readonly Blob[]): Promise<boolean>;
  blob(hash: string): Promise<Uint8Array | undefined>;
}

/** The part of a thread that a workspace uses while it acts in a turn of the thread. */
export interface ThreadFiles extends FileJournal {
  readonly resourceId: string;
  /** By path, the texts that this thread and the threads above it have offloaded. */
  offloaded(): Promise<HeldFiles>;
  /** The backend's version of the file when this thread last read or wrote it. */
  seen(path: string): string | undefined;
  /** Notes that the call has read this version. The `tool_end` of the call records it. */
  read(path: string, version: string): void;
  /** Records the name of the snapshot that the workspace took before a command, or why there is none. */
  checkpoint(about: { tree: string } | { untracked: string }): Promise<void>;
  /** Shows what a command prints (`shell_output`). */
  print(output: string, stream: "stdout" | "stderr"): void;
}
