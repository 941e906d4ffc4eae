import { fromBase64 } from "../events/base64.ts";
import { reasonOf } from "../errors.ts";
import { dataText, toJson } from "../events/json.ts";
import type { FilePart, Json, TextPart, ToolResult } from "../events/message.ts";
import { hashOf } from "../ports/hash.ts";
import type { Blob } from "../ports/store.ts";
import { asText, type ToolContent, type ToolFile } from "../tools/tool.ts";

/** How much of one result the model is shown, in characters: the beginning and the end. */
const RESULT_CHARS = 100_000;
/** How large `details` may be, as JSON. */
const DETAILS_CHARS = 1_000_000;

/** How a call ended, with the bytes that its result refers to. */
export interface Ended {
  kind: "ended";
  result: ToolResult;
  isError: boolean;
  unknown?: true;
  blobs: Blob[];
}

export const failed = (text: string): Ended => ({
  kind: "ended",
  result: { content: clip(text) },
  isError: true,
  blobs: [],
});

/** What a tool returned, as the model and the UI see it. Throws if it can't be shown to the model. */
export async function ended(output: unknown): Promise<Ended> {
  const { content, details, isError = false }: Shaped = isShaped(output) ? output : { content: dataText(output) };
  const blobs: Blob[] = [];
  const shown = typeof content === "string" ? clip(content) : await parts(content, blobs);
  const more = details === undefined ? {} : { details: shownJson(details) };
  return { kind: "ended", result: { content: shown, ...more }, isError, blobs };
}

interface Shaped {
  content: ToolContent;
  details?: unknown;
  isError?: boolean | undefined;
}

const KEYS: ReadonlySet<string> = new Set(["content", "details", "isError"]);

/** An object with any other key is data that happens to have a `content`. */
function isShaped(value: unknown): value is Shaped {
  if (typeof value !== "object" || value === null || !("content" in value)) return false;
  if (!Object.keys(value).every((key) => KEYS.has(key))) return false;
  if ("isError" in value && value.isError !== undefined && typeof value.isError !== "boolean") return false;
  return typeof value.content === "string" || isParts(value.content);
}

const isParts = (value: unknown): value is Exclude<ToolContent, string> =>
  Array.isArray(value) && value.every((part) => part?.type === "text" || part?.type === "file");

async function parts(content: Exclude<ToolContent, string>, blobs: Blob[]): Promise<(TextPart | FilePart)[]> {
  const out: (TextPart | FilePart)[] = [];
  // One text for all: each for itself could be short, and all together endless.
  const text = content.flatMap((part) => (part.type === "text" ? [asText(part.text)] : [])).join("\n");
  if (text !== "") out.push({ type: "text", text: clip(text) });
  for (const part of content) {
    if (part.type === "text") continue;
    if (typeof part.mediaType !== "string") throw new TypeError("The tool returned a file without a mediaType.");
    if (part.data instanceof URL) out.push({ ...named(part), url: part.data.href });
    else {
      const bytes = bytesOf(part);
      const hash = await hashOf(bytes);
      blobs.push({ hash, bytes });
      out.push({ ...named(part), blob: hash });
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
    throw new TypeError(`${what} is a text that is not base64.`, { cause });
  }
}

const named = ({ mediaType, filename }: ToolFile) => ({
  type: "file" as const,
  mediaType,
  ...(typeof filename === "string" ? { filename } : {}),
});

/** Keeps the beginning and the end, and says what is missing and how to see it. */
export function clip(text: string): string {
  if (text.length <= RESULT_CHARS) return text.toWellFormed();
  const head = text.slice(0, RESULT_CHARS * 0.7);
  const tail = text.slice(text.length - RESULT_CHARS * 0.3);
  const left = text.length - head.length - tail.length;
  // A cut may go through a character, and half of one is refused by providers.
  const cut = `${head}\n\n[${left} characters left out here. Ask for a smaller part to see them.]\n\n${tail}`;
  return cut.toWellFormed();
}

/** For the UI: what can't be shown is left out, and says why. It must not cost the model its result. */
export function shownJson(value: unknown): Json {
  try {
    const json = toJson(value);
    const size = JSON.stringify(json).length;
    return size <= DETAILS_CHARS ? json : { leftOut: `${size} characters of details: more than ${DETAILS_CHARS}.` };
  } catch (error) {
    return { leftOut: `No JSON: ${reasonOf(error)}` };
  }
}
