import { checkConfig } from "../config.ts";
import { processShell, type ProcessShellOptions } from "./process-shell.ts";
import type { Shell } from "./shell.ts";

export type LocalShellOptions = Pick<ProcessShellOptions, "root" | "env" | "trusted">;

/**
 * Runs commands as ordinary processes: nothing stands between them and the machine. Their environment has no keys of the harness, and
 * they end with the harness. They can do whatever the user can, which includes reading the memory and the environment of the harness.
 *
 * A process escapes its end only on purpose: by emptying its environment and lowering its limit on file locks, or by having another
 * service start it (cron, systemd, a container daemon). Without /proc, moving to another process group is enough.
 */
export function localShell(options: LocalShellOptions): Shell {
  checkConfig("localShell", options);
  return processShell({ ...options, name: "local" });
}
