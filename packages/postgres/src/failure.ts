import { CinchError, type ErrorCode } from "@cinch/core";

/** What a failed query means for the transaction that it was. */
export type Meaning =
  /** The server is away or can't take queries now. `maybe`: the connection was lost, and whether the transaction was committed is unknown. */
  | { kind: "away"; committed: "no" | "maybe" }
  /** Other transactions were in the way. The same query may succeed at once. */
  | { kind: "again" }
  /** Another session has locked what the query needs. It was rolled back, and may succeed when the lock is gone. */
  | { kind: "locked" }
  | { kind: "failed"; error: CinchError };

/** Errors of the server that end the connection: it shuts down, restarts, or ends this session, for an administrator or after a timeout. */
const ENDED = ["25P03", "57P01", "57P02", "57P03", "57P04", "57P05"];
/** The server accepts no more connections, or only reads: it is a standby, or has become one. */
const NOT_NOW = ["25006", "53300", "57P03"];
/** Serialization failure, deadlock, a row that appeared or disappeared meanwhile. */
const CONFLICT = ["40001", "40P01", "23503", "23505"];
const LOCKED = "55P03";
/** Classes of errors of the statement itself: a value that the server does not accept, or one that is too large. */
const ALWAYS = ["22", "54"];

/** `isSent`: the query may have reached the server. */
export function meaningOf(error: unknown, { place, isSent }: { place: string; isSent: boolean }): Meaning {
  if (error instanceof CinchError) return { kind: "failed", error };
  const state = sqlStateOf(error);
  if (NOT_NOW.includes(state)) return { kind: "away", committed: "no" };
  if (ENDED.includes(state) || state.startsWith("08") || state === "40003")
    return { kind: "away", committed: isSent ? "maybe" : "no" };
  if (CONFLICT.includes(state)) return { kind: "again" };
  if (state === LOCKED) return { kind: "locked" };
  if (state !== "") return { kind: "failed", error: failureOfState(state, error, place) };
  // No answer of the server: the connection failed, or a programming error. Only sockets and the driver's timeouts have neither state nor type.
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError)
    return { kind: "failed", error: new CinchError("INTERNAL", `The store failed: ${error.message}`, error) };
  return { kind: "away", committed: isSent ? "maybe" : "no" };
}

export function sqlStateOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && "severity" in (error as object) ? code : "";
}

function failureOfState(state: string, error: unknown, place: string): CinchError {
  const [code, message] = explainState(state, place, (error as Error).message);
  return new CinchError(code, message, error);
}

/**
 * What a transaction is rejected with that has failed so, or `undefined` if it has to be asked again. A failure proves something about its own
 * attempt alone. If an earlier one may have been committed (`isUnknown`), or may still run on the server, the caller must not hear that
 * nothing was written, so only what every attempt fails with ends it, and what repeating can't change.
 */
export function finalError(error: CinchError, { isUnknown }: { isUnknown: boolean }): CinchError | undefined {
  const isAlways = ALWAYS.includes(sqlStateOf(error.cause).slice(0, 2));
  return isAlways || ["CORRUPT", "INTERNAL"].includes(error.code) || !isUnknown ? error : undefined;
}

function explainState(state: string, place: string, said: string): [ErrorCode, string] {
  switch (state) {
    case "53100":
      return [
        "STORE_FULL",
        `The server of ${place} has no disk space left. Free some and try again. Nothing was written in part.`,
      ];
    case "42501":
      return [
        "STORE_FAILED",
        `The user of ${place} lacks a right: ${said}. Grant it, or connect as the owner of the schema.`,
      ];
    case "28000":
    case "28P01":
      return ["STORE_FAILED", `${place} refused the user: ${said}. Check the user and the password in the URL.`];
    case "3D000":
      return ["STORE_FAILED", `${place} does not exist: ${said}. Create the database, or correct the URL.`];
    case "42P01":
    case "42883":
    case "3F000":
      return [
        "STORE_FAILED",
        `Tables of the store are missing in ${place}: ${said}. Restore the schema from a backup, or use another one.`,
      ];
    case "53000":
    case "53200":
    case "53400":
      return ["STORE_BUSY", `The server of ${place} lacks memory or another resource: ${said}. Try again later.`];
    case "57014":
      return ["STORE_BUSY", `${place} cancelled a query: ${said}. Try again later, or raise its timeouts.`];
    case "XX001":
    case "XX002":
      return ["CORRUPT", `${place} is damaged: ${said}. Restore it from a backup.`];
    default:
      return ["STORE_FAILED", `${place} failed: ${said}`];
  }
}

/** After a wait that has lasted too long: nothing was written. */
export function awayError(place: string, cause: unknown): CinchError {
  const [what, advice] = explainWait(cause);
  return new CinchError("STORE_BUSY", `${place} ${what} (${shortReason(cause)}). ${advice}`, cause);
}

function explainWait(cause: unknown): [what: string, advice: string] {
  if (sqlStateOf(cause) === LOCKED)
    return ["is locked by another session", "Find the session in pg_locks and end it, or try again later."];
  if (isTimeout(cause))
    return [
      "does not answer",
      "Check that the server runs and that no other session has locked it (pg_locks), and try again.",
    ];
  return ["can't be reached", "Check that the server runs, and try again."];
}

/** pg gives this error no code. A clock can't tell: by it, a timer may be early. */
export const isTimeout = (error: unknown): boolean => error instanceof Error && error.message === "Query read timeout";

/** What may have been written although its answer was lost. */
export type Change = "append" | "deletion";

/** Not `STORE_BUSY`, which would say that nothing was written. */
export const closedUnknown = (place: string, what: Change): CinchError =>
  new CinchError(
    "CLOSED",
    `The store was closed while ${place} did not answer. Whether the last ${what} was written is unknown: read the thread to find out.`,
  );

/** A connection that was refused on several addresses is an `AggregateError` without a message. */
function shortReason(cause: unknown): string {
  const [first] = cause instanceof AggregateError ? (cause.errors as unknown[]) : [];
  const error = first ?? cause;
  return error instanceof Error ? error.message : String(error);
}
