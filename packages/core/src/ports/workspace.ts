import type { FileDiff, FileJournal, FileRestore, FileVersion, RewoundFile, ThreadFiles } from "../events/files.ts";
import type { Store } from "./store.ts";
import type { ToolSet } from "../tools/tool.ts";

/** What stands between the commands of a workspace and the machine. */
export interface WorkspaceStatus {
  protection: string;
  /** In one line, for people. */
  description: string;
}

/** What a workspace can ask of the harness that it belongs to. */
export interface WorkspaceHost {
  /** The files that all threads of a resource share. */
  shared(resourceId: string): Promise<FileJournal>;
  /** The real files in which the store lives, if it does in some: not for agents, whatever else they may touch. */
  readonly storeFiles: readonly string[];
  /** Calls back when a thread is deleted, by whichever process. Gives back how to stop listening. */
  onThreadDeleted(threadId: string, deleted: () => void): () => void;
}

/** For whom files are looked at or changed. */
export interface FileReach {
  threadId: string;
  files: ThreadFiles;
  /** Once it is aborted, what is under way ends as soon as it can, and rejects. */
  signal?: AbortSignal;
}

/** Takes back what threads did to files. All of it may be asked again after a crash, and then finds done what is done. */
export interface Undo {
  /** What files hold now: those that are there. Where contents can't be had, `failed` tells why. */
  look(paths: readonly string[], reach: FileReach): Promise<Map<string, LookedAt>>;
  /** Which of these files can't be restored because of what stands in their way, and what that is. Nothing is changed. */
  obstacles(files: readonly FileRestore[], reach: FileReach): Promise<Map<string, string>>;
  /** Each change is in the journal before it is made. Rejects only if it is told to stop, not for what is wrong with a file. */
  restore(files: readonly FileRestore[], reach: FileReach): Promise<RewoundFile[]>;
  /** What became of what files held then. Those that are what they were are left out. */
  diff(then: readonly { path: string; before: FileVersion | null }[], reach: FileReach): Promise<FileDiff[]>;
  /** Records what a command changed whose call did not come to its end. */
  settle(tree: string, reach: FileReach): Promise<void>;
}

export type LookedAt = { hash: string } | { failed: string };

/** The files and commands an agent can reach, as the harness sees them. */
export interface Workspace {
  readonly tools: ToolSet;
  /** Without it, changes of files can't be taken back. */
  readonly undo?: Undo;
  /** Called when the harness is opened. */
  open(host: WorkspaceHost): Promise<WorkspaceStatus>;
  /** Ends what runs. */
  close(): Promise<void>;
}

export function onThreadDeleted(store: Store, threadId: string, deleted: () => void): () => void {
  const look = async (): Promise<void> => {
    if (!(await store.thread(threadId))) deleted();
  };
  return store.follow(threadId, (seq) => {
    // Whose journal has only grown is still there. A store that can't be asked is being closed, and the workspace with it.
    if (seq === undefined) look().catch(() => undefined);
  });
}
