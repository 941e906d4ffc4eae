/** The tools with which an agent works on files: a folder for each kind, on top of any backend. */
import type { ToolSet } from "@cinch/core";
import { virtualPath } from "../paths.ts";
import { deleteTool } from "./change/delete.ts";
import { writeFileTool } from "./change/write-file.ts";
import { editFileTool } from "./edit/edit-file.ts";
import type { FileToolDeps, FileToolsConfig } from "./file-tool-deps.ts";
import { grepTool } from "./grep/grep.ts";
import { globTool } from "./list/glob.ts";
import { lsTool } from "./list/ls.ts";
import { PathQueue } from "./path-queue.ts";
import { readFileTool } from "./read/read-file.ts";

export { restrictedTools } from "./restricted-tools.ts";

export function fileTools(config: FileToolsConfig): ToolSet {
  const deps: FileToolDeps = { path: virtualPath, wrote: () => {}, queue: new PathQueue(), ...config };
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
