/** A shell that interprets commands over any backend. An entry point of its own, because it needs the optional package `just-bash`. */
export { virtualShell, type VirtualShellOptions } from "./virtual-shell.ts";
