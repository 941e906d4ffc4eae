/** The files and commands an agent can reach: backends, shells, path rules, and the tools on top of them. */
import { checkNodeVersion } from "./node-version.ts";

export type { Backend } from "./backend.ts";
export {
  compositeBackend,
  directoryBackend,
  memoryBackend,
  storeBackend,
  threadBackend,
  withPolicy,
  type Access,
  type CompositeOptions,
  type DirectoryBackend,
  type DirectoryOptions,
  type PolicyHooks,
} from "./backends/index.ts";
export { commandMatcher, isCommandPattern, type CommandMatcher } from "./commands/index.ts";
export { FileError, type FileProblem } from "./file-error.ts";
export type { Operation, PathRule } from "@cinch/core/workspace";
export { narrower, pathRules, policyFor, type PathRules } from "./path-rules/index.ts";
export { bwrapSandbox, srtSandbox, type BwrapOptions, type Sandbox } from "./sandboxes/index.ts";
export {
  localShell,
  sandboxShell,
  type LocalShellOptions,
  type Protection,
  type SandboxShellOptions,
  type Shell,
} from "./shells/index.ts";
export type { RunningCommand } from "./tools/execute/index.ts";
export {
  createWorkspace,
  localWorkspace,
  type FileWorkspace,
  type LocalWorkspaceOptions,
  type WorkspaceOptions,
} from "./workspace.ts";

checkNodeVersion();
