/** Finds files and lines: walks that respect ignore files, and searches with ripgrep. */
export { Batches } from "./batches.ts";
export { beginningOf, globFiles, grepFiles, treeFiles, type Searchable } from "./files.ts";
export { ignoresAbove, walk, type Child, type Found, type WalkQuery, type Walkable } from "./walk.ts";
