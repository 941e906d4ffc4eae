/** What keeps commands from the machine. Each sandbox is one file that makes a command line out of a command line. */
export { bwrapSandbox, type BwrapOptions } from "./bwrap.ts";
export type * from "./sandbox.ts";
export { srtSandbox } from "./srt.ts";
