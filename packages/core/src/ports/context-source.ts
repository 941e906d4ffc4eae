import type { ToolSet } from "../tools/tool.ts";
import type { WorkspaceReader } from "./workspace.ts";

/** The text that a source adds to the prompt. */
export interface SourceText {
  /** "" adds nothing. */
  text: string;
  /** Changes whenever the text does. Default: a hash of the text. */
  version?: string;
  /** What the model is told when the text has changed since its prompt began; default: the whole text. */
  change?: string;
  /** What a person should know, such as a file that can't be used and why. Each is shown once for a thread, as `info`. */
  problems?: readonly string[];
}

/** The thread for which a source is read. */
export interface SourceReach {
  threadId: string;
  resourceId: string;
  /** The workspace's files, as the agent reads them. `undefined`: there is no workspace, or it can't be read. */
  files: WorkspaceReader | undefined;
  /** The version of the text that the prompt has. `undefined`: it has none. */
  known: string | undefined;
  /** Whether what the workspace itself says may be obeyed. */
  isTrusted: boolean;
  /** The paths of the files that the thread has read or changed. */
  paths: readonly string[];
  signal: AbortSignal;
}

/**
 * Adds to every prompt: AGENTS.md, a list of skills, or a text of the caller's own. Its text is a part of the head when a head is made. If
 * the text changes later, the model gets a note, and the next head has the new text.
 */
export interface ContextSource {
  /** Unique in a harness. */
  readonly name: string;
  /** What `explainContext()` counts it as; default: `memory`. */
  readonly kind?: "skills" | "memory";
  /** Tools for every agent. */
  readonly tools?: ToolSet;
  /** The text depends on `paths`: it is also read when the thread has read or changed other files. */
  readonly followsPaths?: boolean;
  /** Called when a turn begins. `null`: nothing to add. May reject: the last text stands. */
  read(reach: SourceReach): Promise<SourceText | null>;
}
