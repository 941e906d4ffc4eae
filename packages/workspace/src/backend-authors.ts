/** What authors of backends need: the interface, its failures, and searches for anything that lists and reads. */
export type {
  Backend,
  DeleteOptions,
  Entry,
  GlobQuery,
  GrepMatch,
  GrepQuery,
  Range,
  Reach,
  Sight,
  SmallWrite,
  Stat,
  TreeFile,
  WriteOptions,
} from "./backend.ts";
export { FileError, fileError, type FileProblem } from "./file-error.ts";
export { globFiles, grepFiles, treeFiles, type Searchable } from "./search/index.ts";
