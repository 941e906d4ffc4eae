import type { FileDiff, FileJournal, FileRestore, FileVersion, RewoundFile, ThreadFiles } from "../events/files.ts";
import type { PathRule, PathRuleLists } from "../permissions/path-rule.ts";
import type { Store } from "./store.ts";
import type { ToolSet } from "../tools/tool.ts";

/** How commands of a workspace are kept from the machine. */
export interface WorkspaceStatus {
  protection: string;
  /** In one line, for people. */
  description: string;
}

/** What the harness provides to its workspace. */
export interface WorkspaceHost {
  /** The files that all threads of a resource share. */
  shared(resourceId: string): Promise<FileJournal>;
  /** The real paths of the store's files. No agent may touch them, whatever rules allow. */
  readonly storeFiles: readonly string[];
  /** Calls back when any process has deleted the thread. Returns a function that unsubscribes. */
  onThreadDeleted(threadId: string, deleted: () => void): () => void;
}

/** The thread for which files are read or changed. */
export interface FileReach {
  threadId: string;
  files: ThreadFiles;
  /** When it is aborted, the operation stops and rejects. */
  signal?: AbortSignal;
}

/** Reverts the changes of threads to files. Each call may be repeated after a crash, and then skips what is done already. */
export interface Undo {
  /** The current contents of files. Missing files are left out. `failed`: why a file can't be read. */
  look(paths: readonly string[], reach: FileReach): Promise<Map<string, LookedAt>>;
  /** By path, why a file can't be restored, such as a directory in its place. Changes nothing. */
  obstacles(files: readonly FileRestore[], reach: FileReach): Promise<Map<string, string>>;
  /** Records each change in the journal before it is made. Rejects only if it is aborted: a problem with a file is an outcome. */
  restore(files: readonly FileRestore[], reach: FileReach): Promise<RewoundFile[]>;
  /** Compares the current contents of files with earlier ones. Unchanged files are left out. */
  diff(then: readonly { path: string; before: FileVersion | null }[], reach: FileReach): Promise<FileDiff[]>;
  /** Records the changes of a command whose call did not end. `tree`: the snapshot before it. */
  settle(tree: string, reach: FileReach): Promise<void>;
}

export type LookedAt = { hash: string } | { failed: string };

/** The thread for whose agent files are read, with the path rules of the agent and of those above it. */
export interface ReaderReach extends FileReach {
  pathRules: PathRuleLists;
}

/**
 * Reads the files of a workspace on behalf of a thread, such as skills and AGENTS.md. The rules that bind the agent bind it too: what the
 * agent may not read, or not without asking, does not exist here. Never follows a path out of the root.
 */
export interface WorkspaceReader {
  /** The entries of a directory, by name. `null`: there is no such directory. */
  list(path: string): Promise<{ name: string; type: "file" | "directory" }[] | null>;
  /** Changes whenever the contents of the file do. `null`: there is no such file. */
  version(path: string): Promise<string | null>;
  /** The versions of many files, in order. Default: by `version`. */
  versions?(paths: readonly string[]): Promise<(string | null)[]>;
  /** The beginning of a file, at most `maxBytes` of it, and its whole size in bytes. `null`: there is no such file. */
  read(path: string, options: { maxBytes: number }): Promise<{ text: string; version: string; size: number } | null>;
}

/** The files and commands that an agent can reach. */
export interface Workspace {
  /** Whether what the files themselves say (skills, AGENTS.md, git settings) is obeyed; default: false. */
  readonly trusted?: boolean;
  /** Its files are on this machine alone, so that a thread which has changed them can't go on elsewhere; default: false. */
  readonly isLocal?: boolean;
  /** Without it, context sources can't read files. */
  reader?(reach: ReaderReach): WorkspaceReader;
  readonly tools: ToolSet;
  /** Without it, changes of files can't be reverted. */
  readonly undo?: Undo;
  /**
   * Throws `INVALID_CONFIG` for path rules that can't be used. A workspace with this method promises that each of its tools keeps the
   * `pathRules` of its context, or says with `whyUnavailable` that it can't. Without it, agents can't have path rules.
   */
  checkPathRules?(rules: readonly PathRule[]): void;
  /** Called when the harness is opened. */
  open(host: WorkspaceHost): Promise<WorkspaceStatus>;
  /** Ends the background commands of a subagent that is done, or was aborted. Settles when they have ended. Must not reject. */
  endCommands?(threadId: string): Promise<void>;
  /** Ends running commands. */
  close(): Promise<void>;
}

export function onThreadDeleted(store: Store, threadId: string, deleted: () => void): () => void {
  const check = async (): Promise<void> => {
    if (!(await store.thread(threadId))) deleted();
  };
  return store.follow(threadId, (seq) => {
    // With a `seq`, only the journal has grown. A store that fails here is being closed, and the workspace with it.
    if (seq === undefined) check().catch(() => undefined);
  });
}
