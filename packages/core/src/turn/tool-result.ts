import { fromBase64 } from "../events/base64.ts";
import { reasonOf } from "../errors.ts";
import { dataText, toJson } from "../events/json.ts";
import type { FilePart, Json, TextPart, ToolResult } from "../events/message.ts";
import { hashOf } from "../ports/hash.ts";
import type { Blob } from "../ports/store.ts";
import { asText, type ToolContent, type ToolFile } from "../tools/tool.ts";

/** The limit for `details`, as JSON. */
const DETAILS_CHARS = 1_000_000;

/** The end of a call, with the bytes that its result refers to. */
export interface CallEnd {
  kind: "ended";
  result: ToolResult;
  isError: boolean;
  unknown?: true;
  blobs: Blob[];
}

export const failed = (text: string, details?: Json): CallEnd => ({
  kind: "ended",
  result: { content: text.toWellFormed(), ...(details === undefined ? {} : { details }) },
  isError: true,
  blobs: [],
});

/** Converts the return value of a tool for the model and the UI. Throws if it can't be shown to the model. */
export async function callEnd(output: unknown): Promise<CallEnd> {
  const {
    content,
    details,
    isError = false,
  }: ResultObject = isResultObject(output) ? output : { content: dataText(output) };
  const blobs: Blob[] = [];
  const shown = typeof content === "string" ? content.toWellFormed() : await storedParts(content, blobs);
  const more = details === undefined ? {} : { details: shownJson(details) };
  return { kind: "ended", result: { content: shown, ...more }, isError, blobs };
}

interface ResultObject {
  content: ToolContent;
  details?: unknown;
  isError?: boolean | undefined;
}

const KEYS: ReadonlySet<string> = new Set(["content", "details", "isError"]);

/** An object with any other key is data that happens to have a `content`. */
function isResultObject(value: unknown): value is ResultObject {
  if (typeof value !== "object" || value === null || !("content" in value)) return false;
  if (!Object.keys(value).every((key) => KEYS.has(key))) return false;
  if ("isError" in value && value.isError !== undefined && typeof value.isError !== "boolean") return false;
  return typeof value.content === "string" || isParts(value.content);
}

const isParts = (value: unknown): value is Exclude<ToolContent, string> =>
  Array.isArray(value) && value.every((part) => part?.type === "text" || part?.type === "file");

async function storedParts(content: Exclude<ToolContent, string>, blobs: Blob[]): Promise<(TextPart | FilePart)[]> {
  const out: (TextPart | FilePart)[] = [];
  const text = content.flatMap((part) => (part.type === "text" ? [asText(part.text)] : [])).join("\n");
  if (text !== "") out.push({ type: "text", text: text.toWellFormed() });
  for (const part of content) {
    if (part.type === "text") continue;
    if (typeof part.mediaType !== "string") throw new TypeError("The tool returned a file without a mediaType.");
    if (part.data instanceof URL) out.push({ ...filePart(part), url: part.data.href });
    else {
      const bytes = bytesOf(part);
      const hash = await hashOf(bytes);
      blobs.push({ hash, bytes });
      out.push({ ...filePart(part), blob: hash });
    }
  }
  return out;
}

function bytesOf({ data, mediaType }: ToolFile): Uint8Array<ArrayBuffer> {
  const what = `The tool returned a file (${mediaType}) whose data`;
  if (data instanceof Uint8Array || (data as unknown) instanceof ArrayBuffer) return new Uint8Array(data as Uint8Array);
  if (typeof data !== "string") throw new TypeError(`${what} is not bytes, base64 text or a URL.`);
  try {
    return fromBase64(data);
  } catch (cause) {
    throw new TypeError(`${what} is a string that is not base64.`, { cause });
  }
}

const filePart = ({ mediaType, filename }: ToolFile) => ({
  type: "file" as const,
  mediaType,
  ...(typeof filename === "string" ? { filename } : {}),
});

/** For the UI. A value that is too large or not JSON is replaced by the reason: the call must not fail because of its details. */
export function shownJson(value: unknown): Json {
  try {
    const json = toJson(value);
    const size = JSON.stringify(json).length;
    return size <= DETAILS_CHARS ? json : { leftOut: `${size} characters of details: more than ${DETAILS_CHARS}.` };
  } catch (error) {
    return { leftOut: `Not JSON: ${reasonOf(error)}` };
  }
}
