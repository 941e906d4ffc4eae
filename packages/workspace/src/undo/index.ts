/** Reverts changes of files. Those of commands are found by comparing snapshots of all files; those of tools are in the journal. */
export { CommandRecords } from "./command-records.ts";
export { FileUndo, type Watch } from "./file-undo.ts";
