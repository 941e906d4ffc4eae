/** The tools with which an agent works on files: one file for each, on top of any backend. */
import type { ToolSet } from "@cinch/core";
import type { Backend } from "../backend.ts";
import { deleteTool } from "./change/delete.ts";
import { editFileTool } from "./edit/edit-file.ts";
import { globTool } from "./list/glob.ts";
import { grepTool } from "./grep/grep.ts";
import { lsTool } from "./list/ls.ts";
import type { FileToolDeps } from "./file-tool-deps.ts";
import { PathQueue } from "./path-queue.ts";
import { readFileTool } from "./read/read-file.ts";
import type { FileRules } from "../path-rules/file-rules.ts";
import { virtualPath } from "../paths.ts";
import { writeFileTool } from "./change/write-file.ts";

export type { FileRules } from "../path-rules/file-rules.ts";

export interface FileToolsConfig {
  backend: Backend;
  rules: FileRules;
  /** The path of the workspace that is meant by what the model wrote. Throws a `FileError`. */
  path?: (input: string) => string;
  /** Told the hash of what was written where; `null` for what was deleted. */
  wrote?: (path: string, hash: string | null) => void;
}

export function fileTools({ backend, rules, path = virtualPath, wrote = () => {} }: FileToolsConfig): ToolSet {
  const deps: FileToolDeps = { backend, rules, path, wrote, queue: new PathQueue() };
  return {
    ls: lsTool(deps),
    read_file: readFileTool(deps),
    write_file: writeFileTool(deps),
    edit_file: editFileTool(deps),
    delete: deleteTool(deps),
    glob: globTool(deps),
    grep: grepTool(deps),
  };
}
