/** Taking back what was done to files: what commands changed is told by pictures of all files, the rest is in the journal. */
export { FileUndo, type Watch } from "./undo.ts";
export { Runs } from "./command-records.ts";
