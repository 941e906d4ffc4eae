/** What authors of workspaces need: the port, and the records of files in a journal. */
export type {
  FileChange,
  FileDiff,
  FileJournal,
  FileOperation,
  FileRestore,
  FileVersion,
  HeldFile,
  HeldFiles,
  RewoundFile,
  ThreadFiles,
} from "./events/files.ts";
export { CONTEXT_PATH, OFFLOADED_FROM_CHARS } from "./events/offloaded.ts";
export { Operation, PathRule, type PathRuleLists } from "./permissions/path-rule.ts";
export { Policy } from "./permissions/rule.ts";
export type {
  FileReach,
  LookedAt,
  ReaderReach,
  Undo,
  Workspace,
  WorkspaceHost,
  WorkspaceReader,
  WorkspaceStatus,
} from "./ports/workspace.ts";
