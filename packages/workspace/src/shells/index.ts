/** What runs commands: processes of this machine, the same in a sandbox, or an interpreter over any backend. */
export { localShell, type LocalShellOptions } from "./local.ts";
export { sandboxShell, type SandboxShellOptions } from "./sandbox.ts";
export { virtualShell, type VirtualShellOptions } from "./virtual.ts";
