import { CinchError, type ErrorCode } from "@cinch/core";

/** The codes of errors that only a server has. */
export type HttpErrorCode =
  | ErrorCode
  | "UNAUTHENTICATED"
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "NOT_ACCEPTABLE"
  | "TOO_LARGE"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "TOO_MANY"
  | "TIMEOUT"
  | "DRAINING";

interface Details {
  /** The field of the query or the body that is wrong. */
  field?: string | undefined;
  headers?: Record<string, string>;
  /** For the log and the metrics, where the code says too little. */
  reason?: string;
}

/** A failure with its answer. */
export class HttpError extends Error {
  readonly status: number;
  readonly code: HttpErrorCode;
  readonly details: Details;

  constructor(status: number, code: HttpErrorCode, message: string, details: Details = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }

  /** Why the request was refused, as one word. */
  get reason(): string {
    return this.details.reason ?? this.code.toLowerCase();
  }
}

const STATUS: Partial<Record<ErrorCode, number>> = {
  INVALID_INPUT: 400,
  UNKNOWN_MODE: 400,
  PERMISSION_DENIED: 403,
  THREAD_NOT_FOUND: 404,
  NOT_PENDING: 409,
  ALREADY_ANSWERED: 409,
  THREAD_EXISTS: 409,
  // The command needs a part that this harness does not have, such as a memory.
  INVALID_CONFIG: 501,
  STORE_FULL: 507,
  STORE_BUSY: 503,
  CLOSED: 503,
};

export const RETRY_AFTER = { "retry-after": "1" } as const;

export const draining = (): HttpError =>
  new HttpError(503, "DRAINING", "The server is closing. Try again.", { headers: RETRY_AFTER });

/** The answer to a failure. `undefined`: the failure is a defect, whose message may hold anything, so a caller must not see it. */
export function knownFailure(error: unknown): HttpError | undefined {
  if (error instanceof HttpError) return error;
  if (!(error instanceof CinchError)) return undefined;
  const status = STATUS[error.code];
  if (status === undefined) return undefined;
  return new HttpError(status, error.code, error.message, status === 503 ? { headers: RETRY_AFTER } : {});
}

/** Names the field whose value a method has refused: no schema knows which modes, models and inputs there are. */
export const namedField =
  (field: string, code: "INVALID_INPUT" | "UNKNOWN_MODE" = "INVALID_INPUT") =>
  (error: unknown): never => {
    if (!(error instanceof CinchError) || error.code !== code) throw error;
    throw new HttpError(400, code, error.message, { field });
  };

const MESSAGE_CHARS = 1_000;
const FIELD_CHARS = 200;

/** A message may quote the request, which may be long. */
const short = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text);

export function errorResponse({ status, code, message, details }: HttpError): Response {
  const { field, headers = {} } = details;
  const named = field === undefined ? {} : { field: short(field, FIELD_CHARS) };
  const error = { code, message: short(message, MESSAGE_CHARS), ...named };
  return Response.json({ error }, { status, headers });
}
