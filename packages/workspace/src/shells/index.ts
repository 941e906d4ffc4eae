/** What runs commands: processes of this machine, directly or in a sandbox. */
export { localShell, type LocalShellOptions } from "./local-shell.ts";
export { sandboxShell, type SandboxShellOptions } from "./sandbox-shell.ts";
export * from "./shell.ts";
