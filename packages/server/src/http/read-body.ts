import { HttpError } from "./http-error.ts";
import { fieldName } from "./valid.ts";

export interface BodyLimits {
  bytes: number;
  ms: number;
}

const DEPTH = 64;
/** To check a value takes far longer than to send it. */
const MOST_VALUES = 50_000;

/** The JSON body of a request. Nothing of it is read before its type and length are checked. */
export async function jsonBody(
  request: Request,
  limits: BodyLimits,
  readOf?: (body: unknown) => unknown,
): Promise<unknown> {
  if (!isJson(request.headers.get("content-type")))
    throw new HttpError(415, "UNSUPPORTED_MEDIA_TYPE", "Send the body as JSON, with `content-type: application/json`.");
  const bytes = await bodyBytes(request, limits);
  if (bytes.length === 0) return {};
  return parsedJson(decoded(bytes), readOf);
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw notJson();
  }
}

const notJson = (): HttpError => new HttpError(400, "INVALID_INPUT", "The body is not valid JSON in UTF-8.");

/** Throws 400 for what is not JSON, or is nested too deeply. `readOf`: the part of it that is used. */
export function parsedJson(text: string, readOf = (body: unknown) => body): unknown {
  const value = readOf(parsed(text));
  checkShape(value);
  return value;
}

const isJson = (type: string | null): boolean => /^application\/json\s*(;|$)/i.test(type ?? "");

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notJson();
  }
}

/** Refuses what code that recurses, or that copies keys, can't take. */
function checkShape(body: unknown): void {
  const left: { value: object; path: readonly string[] }[] = isObject(body) ? [{ value: body, path: [] }] : [];
  let values = 0;
  for (let next = left.pop(); next; next = left.pop()) {
    const { value, path } = next;
    const refuse = (status: number, problem: string) =>
      new HttpError(status, status === 413 ? "TOO_LARGE" : "INVALID_INPUT", problem, { field: path[0] });
    if (path.length >= DEPTH) throw refuse(400, `The body is nested deeper than ${DEPTH} levels.`);
    const length = Array.isArray(value) ? value.length : Object.keys(value).length;
    values += length;
    if (values > MOST_VALUES) throw refuse(413, `The body has more than ${MOST_VALUES} values.`);
    for (const [key, inner] of Object.entries(value)) {
      if (key === "__proto__")
        throw new HttpError(400, "INVALID_INPUT", 'The key "__proto__" is not accepted. Use another name.', {
          field: fieldName([...path, key]),
        });
      if (isObject(inner)) left.push({ value: inner, path: [...path, key] });
    }
  }
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Without its body, a command would do something else than its caller wants. */
function refuseRead({ headers }: Request): void {
  if (!Number(headers.get("content-length")) && !headers.has("transfer-encoding")) return;
  throw new HttpError(
    400,
    "INVALID_INPUT",
    "The body was read before it came here. Mount the server before body parsers, such as express.json().",
  );
}

/** The body, up to a size and within a time. */
export async function bodyBytes(request: Request, { bytes: most, ms }: BodyLimits): Promise<Uint8Array> {
  const tooLarge = new HttpError(413, "TOO_LARGE", `The body has more than ${most} bytes.`, {
    headers: { connection: "close" },
  });
  if (Number(request.headers.get("content-length") ?? 0) > most) throw tooLarge;
  if (!request.body) return new Uint8Array();
  const reader = request.body.getReader();
  const slow = Promise.withResolvers<never>();
  const timer = setTimeout(() => slow.reject(new HttpError(408, "TIMEOUT", "The body took too long.")), ms);
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), slow.promise]);
      if (done && length === 0) refuseRead(request);
      if (done) return Buffer.concat(chunks);
      length += value.length;
      if (length > most) throw tooLarge;
      chunks.push(value);
    }
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new HttpError(400, "INVALID_INPUT", "The body could not be read to its end.");
  } finally {
    clearTimeout(timer);
    slow.promise.catch(() => undefined);
    reader.cancel().catch(() => undefined);
  }
}
