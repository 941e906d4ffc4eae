/** Stable codes that a program can switch on. `PROVIDER_…` codes name what a model provider did. */
export type ErrorCode =
  | "INVALID_CONFIG"
  | "INVALID_INPUT"
  | "NOT_PENDING"
  | "ALREADY_ANSWERED"
  | "THREAD_LOCKED"
  | "THREAD_NOT_FOUND"
  | "UNKNOWN_MODE"
  | "STORE_FULL"
  | "STORE_BUSY"
  | "STORE_NEWER"
  | "STORE_FAILED"
  | "CORRUPT"
  | "PERMISSION_DENIED"
  | "PATH_OUTSIDE_ROOT"
  | "CONTEXT_OVERFLOW"
  | "CLOSED"
  | "INTERNAL"
  | `PROVIDER_${string}`;

/** Every error that leaves the library. `message` says what to do next; the original is the `cause`. */
export class CinchError extends Error {
  override readonly name: string = "CinchError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

export const closedError = (): CinchError =>
  new CinchError("CLOSED", "The harness is closed. What was accepted is kept: open it again to go on.");

/** What an error says. Never throws: what the caller's code throws may be any value, and may fail when it is looked at. */
export function reasonOf(error: unknown): string {
  try {
    const said: unknown = error instanceof Error ? error.message || error.name : error;
    return typeof said === "object" ? (JSON.stringify(said) ?? String(said)) : String(said);
  } catch {
    return "a value was thrown that can't be shown";
  }
}
