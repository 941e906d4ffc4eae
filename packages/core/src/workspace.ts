import type { FileJournal } from "./files.ts";
import type { Store } from "./store.ts";
import type { ToolSet } from "./tool.ts";

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

/** The files and commands an agent can reach, as the harness sees them. */
export interface Workspace {
  readonly tools: ToolSet;
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
