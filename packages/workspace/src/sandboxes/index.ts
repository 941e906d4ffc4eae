/** What protects the machine from commands. A sandbox turns one command line into another. */
export { bwrapSandbox, type BwrapOptions } from "./bwrap.ts";
export type * from "./sandbox.ts";
export { srtSandbox } from "./srt.ts";
