/** What runs commands: processes of this machine, directly or in a sandbox. */
export { localShell, type LocalShellOptions } from "./local.ts";
export { sandboxShell, type SandboxShellOptions } from "./sandbox.ts";
export * from "./shell.ts";
