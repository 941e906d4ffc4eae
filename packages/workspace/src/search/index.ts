/** Finding files and lines: walks that leave out what ignore files exclude, plain text, and regular expressions by ripgrep. */
export { Batches } from "./batches.ts";
export { beginningOf, globFiles, grepFiles, treeFiles, walkable, type Searchable } from "./files.ts";
export { ignoresAbove, walk, type Child, type Found, type WalkQuery, type Walkable } from "./walk.ts";
