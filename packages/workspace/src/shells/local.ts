import { checkConfig } from "../config.ts";
import type { Shell } from "./shell.ts";
import { processShell, type ProcessShellOptions } from "./process.ts";

export type LocalShellOptions = Pick<ProcessShellOptions, "root" | "env" | "trusted">;

/**
 * Commands as ordinary processes: nothing stands between them and the machine. They do not see the keys of the harness in their
 * environment, and end with the harness. What they can do all the same is whatever the user can, which includes looking at the memory
 * and the environment of the user's other processes, the harness among them.
 *
 * A process escapes its end only on purpose, by emptying its environment and lowering its limit of file locks, or by having another
 * service start it for it (cron, systemd, a container daemon); without /proc, by moving to another process group.
 */
export function localShell(options: LocalShellOptions): Shell {
  checkConfig("localShell", options);
  return processShell({ ...options, name: "local" });
}
