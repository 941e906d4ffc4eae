/** Patterns for paths, with one meaning for `glob`, `grep` and path rules. */
export * from "./glob.ts";
export * from "./parts.ts";
export type { Effort } from "./machine.ts";
