/** The tools with which an agent works on files: one file for each, on top of any backend. */
import type { ToolSet } from "@cinch/core";
import type { Backend } from "../backend.ts";
import { deleteTool } from "./change/delete.ts";
import { editFile } from "./edit/edit-file.ts";
import { glob } from "./list/glob.ts";
import { grep } from "./grep/grep.ts";
import { ls } from "./list/ls.ts";
import type { Place } from "./file-tool-deps.ts";
import { PathQueue } from "./path-queue.ts";
import { readFile } from "./read/read-file.ts";
import type { FileRules } from "../path-rules/file-rules.ts";
import { virtualPath } from "../paths.ts";
import { writeFile } from "./change/write-file.ts";

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
  const place: Place = { backend, rules, path, wrote, queue: new PathQueue() };
  return {
    ls: ls(place),
    read_file: readFile(place),
    write_file: writeFile(place),
    edit_file: editFile(place),
    delete: deleteTool(place),
    glob: glob(place),
    grep: grep(place),
  };
}
