/** What authors of shells and sandboxes need. */
export type { CommandLine, Probe, Sandbox, SandboxBounds, SandboxRule } from "./sandboxes/sandbox.ts";
export type {
  ShellCommand,
  CommandExit,
  Protection,
  Running,
  Shell,
  ShellBounds,
  Sink,
  StartOptions,
} from "./shells/shell.ts";
