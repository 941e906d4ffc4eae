import assert from "node:assert/strict";
import { test } from "node:test";
import { modelFailure } from "../../src/model/failure.ts";

/** The fields of an SDK's error that are read. */
const apiError = (statusCode: number | undefined, message: string, more: object = {}) =>
  Object.assign(new Error(message), { name: "AI_APICallError", statusCode, ...more });
const socket = Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" });

const cases: [what: string, error: unknown, during: "request" | "stream", expected: object][] = [
  ["a limit", apiError(429, "Slow"), "request", { code: "PROVIDER_RATE_LIMIT", message: "Slow", retryable: true }],
  [
    "a server that broke",
    apiError(500, "Oh"),
    "request",
    { code: "PROVIDER_UNAVAILABLE", message: "Oh", retryable: true },
  ],
  [
    "one that is overloaded",
    apiError(529, "Oh"),
    "request",
    { code: "PROVIDER_UNAVAILABLE", message: "Oh", retryable: true },
  ],
  [
    "a timeout of the server",
    apiError(408, "Oh"),
    "request",
    { code: "PROVIDER_UNAVAILABLE", message: "Oh", retryable: true },
  ],
  [
    "a wrong key",
    apiError(401, "No."),
    "request",
    { code: "PROVIDER_AUTH", message: "No. Check the API key of this provider.", retryable: false },
  ],
  [
    "a wrong model",
    apiError(404, "No."),
    "request",
    { code: "PROVIDER_NOT_FOUND", message: "No. Check the model's name.", retryable: false },
  ],
  ["a bad request", apiError(400, "No."), "request", { code: "PROVIDER_REJECTED", message: "No.", retryable: false }],
  [
    "a prompt that is too long, by message",
    apiError(400, "prompt is too long: 210000 tokens > 200000 maximum"),
    "request",
    { code: "CONTEXT_OVERFLOW", message: "prompt is too long: 210000 tokens > 200000 maximum", retryable: false },
  ],
  [
    "a prompt that is too long, by code",
    apiError(400, "No.", { data: { error: { code: "context_length_exceeded" } } }),
    "request",
    { code: "CONTEXT_OVERFLOW", message: "No.", retryable: false },
  ],
  [
    "a body that is too large",
    apiError(413, "No."),
    "request",
    { code: "CONTEXT_OVERFLOW", message: "No.", retryable: false },
  ],
  [
    "no connection",
    apiError(undefined, "Cannot connect", {
      cause: new TypeError("fetch failed", { cause: socket }),
      isRetryable: true,
    }),
    "request",
    { code: "PROVIDER_NETWORK", message: "Cannot connect", retryable: true },
  ],
  [
    "a connection that broke in the middle of a success",
    apiError(200, "Failed to process", { cause: new TypeError("terminated", { cause: socket }) }),
    "stream",
    { code: "PROVIDER_NETWORK", message: "Failed to process", retryable: true },
  ],
  [
    "an unknown host name",
    Object.assign(new Error("dns"), { code: "ENOTFOUND" }),
    "request",
    { code: "PROVIDER_NETWORK", message: "dns", retryable: true },
  ],
  [
    "an error in the stream",
    { type: "overloaded_error", message: "Busy" },
    "stream",
    { code: "PROVIDER_STREAM", message: "Busy", retryable: true },
  ],
  [
    "an error in the stream that is not retryable",
    { message: "No", isRetryable: false },
    "stream",
    { code: "PROVIDER_STREAM", message: "No", retryable: false },
  ],
  [
    "an error of the caller",
    new Error("Unsupported"),
    "request",
    { code: "PROVIDER_ERROR", message: "Unsupported", retryable: false },
  ],
  ["a text", "nope", "stream", { code: "PROVIDER_STREAM", message: "nope", retryable: true }],
  [
    "a value without a message",
    { odd: 1 },
    "stream",
    { code: "PROVIDER_STREAM", message: '{"odd":1}', retryable: true },
  ],
];

for (const [what, error, during, expected] of cases) {
  test(`${what} gets the right code`, () => {
    assert.deepEqual(modelFailure(error, during), { ...expected, cause: error });
  });
}

const wait = (responseHeaders: Record<string, string>) =>
  modelFailure(apiError(429, "Slow", { responseHeaders }), "request").retryAfterMs;

test("the delay that a provider asks for is read from either header", () => {
  assert.equal(wait({ "retry-after": "7" }), 7_000);
  assert.equal(wait({ "retry-after": "0.5" }), 500);
  assert.equal(wait({ "retry-after-ms": "250", "retry-after": "7" }), 250);
  assert.equal(wait({ "retry-after": "soon" }), undefined);
  assert.equal(wait({ "retry-after": "-3" }), 0);
  assert.equal(wait({}), undefined);
  const inAMinute = wait({ "retry-after": new Date(Date.now() + 60_000).toUTCString() })!;
  assert.ok(inAMinute > 57_000 && inAMinute <= 60_000, `${inAMinute}`);
});

test("an error that is its own cause does not loop", () => {
  const loop: { message: string; cause?: unknown } = { message: "round" };
  loop.cause = loop;
  assert.deepEqual(modelFailure(loop, "request"), {
    code: "PROVIDER_ERROR",
    message: "round",
    retryable: false,
    cause: loop,
  });
});
