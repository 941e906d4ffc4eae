import type { ErrorCode } from "../errors.ts";
import { asText } from "../tools/tool.ts";

/** Why a model call gave no answer: a value that the loop handles, never a throw. */
export interface ModelFailure {
  code: ErrorCode;
  message: string;
  retryable: boolean;
  /** The delay that the provider asked for. */
  retryAfterMs?: number;
  cause?: unknown;
}

const OVERFLOW =
  /context.{0,20}(length|window)|prompt is too long|too many tokens|maximum.{0,20}tokens|token count exceeds/i;
const NETWORK_CODE = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_)/;

/**
 * Classifies an error that a provider's SDK threw or sent in its stream: by its fields, because several major versions of the SDK, with
 * error classes of their own, may be in use.
 */
export function modelFailure(error: unknown, during: "request" | "stream"): ModelFailure {
  const message = messageOf(error);
  const status = field(error, "statusCode");
  // The error of a stream that breaks off has the status of its response, which was a success.
  if (typeof status === "number" && status >= 400) return { ...ofStatus(status, error, message), cause: error };
  if (chain(error).some(isNetworkError)) return { code: "PROVIDER_NETWORK", message, retryable: true, cause: error };
  if (isOverflow(error, message)) return { code: "CONTEXT_OVERFLOW", message, retryable: false, cause: error };
  // A stream that broke off is retried, unless the error says otherwise; a request that failed only if the error says so.
  if (during === "stream")
    return { code: "PROVIDER_STREAM", message, retryable: field(error, "isRetryable") !== false, cause: error };
  return { code: "PROVIDER_ERROR", message, retryable: field(error, "isRetryable") === true, cause: error };
}

function ofStatus(status: number, error: unknown, message: string): Omit<ModelFailure, "cause"> {
  const retryAfterMs = retryAfter(field(error, "responseHeaders"));
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (status === 429) return { code: "PROVIDER_RATE_LIMIT", message, retryable: true, ...wait };
  if (status >= 500 || status === 408 || status === 409)
    return { code: "PROVIDER_UNAVAILABLE", message, retryable: true, ...wait };
  if (status === 401 || status === 403) {
    return {
      code: "PROVIDER_AUTH",
      message: `${sentence(message)} Check the API key of this provider.`,
      retryable: false,
    };
  }
  if (status === 404)
    return { code: "PROVIDER_NOT_FOUND", message: `${sentence(message)} Check the model's name.`, retryable: false };
  if (status === 413 || isOverflow(error, message)) return { code: "CONTEXT_OVERFLOW", message, retryable: false };
  return { code: "PROVIDER_REJECTED", message, retryable: false };
}

const sentence = (message: string): string => (/[.!?]$/.test(message.trimEnd()) ? message : `${message}.`);

/** Some providers have a code for this; others only a message. */
function isOverflow(error: unknown, message: string): boolean {
  if (field(field(field(error, "data"), "error"), "code") === "context_length_exceeded") return true;
  return OVERFLOW.test(message);
}

function retryAfter(headers: unknown): number | undefined {
  const ms = Number(field(headers, "retry-after-ms") ?? NaN);
  if (Number.isFinite(ms)) return Math.max(0, ms);
  const after = field(headers, "retry-after");
  if (typeof after !== "string") return undefined;
  const seconds = Number(after);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(after);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

function isNetworkError(error: unknown): boolean {
  const code = field(error, "code");
  if (typeof code === "string" && NETWORK_CODE.test(code)) return true;
  // The error that `fetch` throws for a failed connection has no class or code of its own.
  return error instanceof TypeError && (error.message === "fetch failed" || error.message === "terminated");
}

/** An error and its causes, outermost first. */
function chain(error: unknown): unknown[] {
  const errors: unknown[] = [];
  for (let at = error; at && errors.length < 8; at = field(at, "cause")) errors.push(at);
  return errors;
}

function messageOf(error: unknown): string {
  if (typeof error === "string") return error;
  const message = field(error, "message");
  if (typeof message === "string" && message !== "") return message;
  return asText(error);
}

const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
