import type { Input, InputFile } from "@cinch/core";
import { CinchError, type ErrorCode } from "@cinch/core/remote";
import { randomId } from "./random-id.ts";

/** The options of a method. What is in them the server checks, except for those that the client reads itself: it has their `keys`. */
export function objectOf<T extends object>(
  options: T,
  keys?: readonly (keyof T)[],
  code: ErrorCode = "INVALID_INPUT",
): T {
  if (typeof options !== "object" || !options || Array.isArray(options))
    throw new CinchError(code, "Methods take an object with their options.");
  for (const key in options)
    if (keys && !keys.includes(key)) throw new CinchError(code, `Unknown key "${key}": there are ${keys.join(", ")}.`);
  return options;
}

/**
 * A message as it is sent: JSON, or a form if it has files with contents. The id makes it one message however often it is sent. What is
 * no file is sent as it is, and the server says what is wrong with it.
 */
export function wireInput<T extends Input>(input: T): { inputId: string; body: unknown } {
  const { files, id: inputId = randomId("input"), ...rest } = objectOf(input);
  const form = new FormData();
  const isNamed = (file: InputFile) => {
    const contents = blobOf(file);
    if (contents) form.append("files", contents, file.filename ?? "blob");
    return !contents;
  };
  const named = Array.isArray(files) ? files.filter(isNamed).map(urlOf) : files;
  const body = { ...rest, id: inputId, files: named };
  if (!form.has("files")) return { inputId, body };
  form.set("body", JSON.stringify(body));
  return { inputId, body: form };
}

function urlOf(file: InputFile): object {
  if (!(file?.data instanceof URL)) return file;
  const { data, ...rest } = file;
  return { ...rest, url: String(data) };
}

/** `undefined`: it has no contents. */
function blobOf(file: InputFile): Blob | undefined {
  const bytes = typeof file?.data === "string" ? decoded(file.data) : file?.data;
  return bytes instanceof Uint8Array ? new Blob([bytes as BlobPart], { type: file.mediaType }) : undefined;
}

function decoded(base64: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}
