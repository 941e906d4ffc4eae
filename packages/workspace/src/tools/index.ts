/** The tools with which an agent works on files: a folder for each kind, on top of any backend. */
import type { ToolSet } from "@cinch/core";
import type { Backend } from "../backend.ts";
import type { FileRules } from "../path-rules/index.ts";
import { virtualPath } from "../paths.ts";
import { deleteTool } from "./change/delete.ts";
import { writeFileTool } from "./change/write-file.ts";
import { editFileTool } from "./edit/edit-file.ts";
import type { FileToolDeps } from "./file-tool-deps.ts";
import { grepTool } from "./grep/grep.ts";
import { globTool } from "./list/glob.ts";
import { lsTool } from "./list/ls.ts";
import { PathQueue } from "./path-queue.ts";
import { readFileTool } from "./read/read-file.ts";

export interface FileToolsConfig {
  backend: Backend;
  rules: FileRules;
  /** The workspace path that the model's input means. Throws a `FileError`. */
  path?: (input: string) => string;
  /** Called after each write with the hash of the new contents; `null` after a deletion. */
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
