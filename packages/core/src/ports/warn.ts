import { reasonOf } from "../errors.ts";

/** The part of Node's `process` that is used here. In a browser there is none. */
interface Warner {
  emitWarning?(message: string, options: { type: string; code: string; detail?: string }): void;
}

/** Warns the developer, who receives no events: as a process warning, or on the console where there is no process. */
export function warn(code: string, message: string, cause?: unknown): void {
  const { process } = globalThis as { process?: Warner };
  const text = cause === undefined ? message : `${message}: ${reasonOf(cause)}`;
  if (process?.emitWarning) process.emitWarning(text, { type: "CinchWarning", code, ...stackOf(cause) });
  else console.warn(`CinchWarning [${code}]: ${text}`);
}

/** The getters of a thrown value may throw. */
function stackOf(cause: unknown): { detail?: string } {
  try {
    return cause instanceof Error && typeof cause.stack === "string" ? { detail: cause.stack } : {};
  } catch {
    return {};
  }
}
