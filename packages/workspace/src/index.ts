/** The files and commands an agent can reach: backends, shells, path rules, and the tools on top of them. */
import { checkNodeVersion } from "./node-version.ts";

export * from "./backend.ts";
export * from "./backends/index.ts";
export { commandMatcher, type CommandMatcher } from "./commands/index.ts";
export type { Confinement } from "./disk/folder.ts";
export { FileError, fileError, retold, type FileProblem } from "./file-error.ts";
export { glob, type Glob } from "./glob/index.ts";
export * from "./outputs/output.ts";
export { OUTPUT_PATH, Outputs, type OutputFile } from "./outputs/outputs.ts";
export { virtualPath, type PathOptions } from "./paths.ts";
export { canHide, narrower, Operation, PathRule, pathRules, policyFor, ruleHooks } from "./path-rules/index.ts";
export type { FileRules, PathRules } from "./path-rules/index.ts";
export * from "./sandboxes/index.ts";
export { globFiles, grepFiles, treeFiles, type Searchable } from "./search/index.ts";
export * from "./shells/index.ts";
export type { FileToolsConfig } from "./tools/file-tool-deps.ts";
export { fileTools } from "./tools/index.ts";
export { createWorkspace, FileWorkspace, localWorkspace } from "./workspace.ts";
export type { LocalWorkspaceOptions, WorkspaceOptions } from "./workspace.ts";

checkNodeVersion();
