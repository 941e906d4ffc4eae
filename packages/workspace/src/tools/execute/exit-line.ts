import type { Exit } from "../../shells/shell.ts";

/** How a command ended, in one line. */
export function exitLine({ code, signal, timedOut, durationMs, leftBehind }: Exit): string {
  const after = `after ${(durationMs / 1000).toFixed(1)} s`;
  const left = leftBehind ? " Processes that it left running were ended." : "";
  if (timedOut) return `Ended by the time limit, ${after}. Give a longer timeout_ms if it needs more.${left}`;
  if (signal) return `Ended by ${signal} ${after}.${left}`;
  return `Exit code ${code} ${after}.${left}`;
}
