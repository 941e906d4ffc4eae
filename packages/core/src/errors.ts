/** Stable codes that a program can switch on. `PROVIDER_…` codes are failures of a model provider. */
export type ErrorCode =
  | "INVALID_CONFIG"
  | "INVALID_INPUT"
  | "NOT_PENDING"
  | "ALREADY_ANSWERED"
  | "THREAD_NOT_FOUND"
  | "THREAD_EXISTS"
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
  new CinchError(
    "CLOSED",
    "The harness is closed. Accepted commands are kept: continue with a new harness on the store.",
  );

export const closedSession = (): CinchError =>
  new CinchError(
    "CLOSED",
    "The session or its harness is closed. Accepted commands are kept: continue in a new session, or with a new harness on the store.",
  );

/** Whether the store or the harness was closed, so that nothing can be tried again. */
export const isClosed = (error: unknown): boolean => error instanceof CinchError && error.code === "CLOSED";

/** The message of an error. Never throws, although code of the caller may throw any value, even one whose getters fail. */
export function reasonOf(error: unknown): string {
  try {
    const reason: unknown = error instanceof Error ? error.message || error.name : error;
    return typeof reason === "object" ? (JSON.stringify(reason) ?? String(reason)) : String(reason);
  } catch {
    return "a value was thrown that can't be shown";
  }
}
