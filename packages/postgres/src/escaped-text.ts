import { CinchError } from "@cinch/core";

const SPECIAL = /[\0\\]|\p{Surrogate}/gu;
const ENCODED = /\\(?:\\|0|u([0-9a-f]{4}))/g;
/** An index of Postgres accepts up to 2,700 bytes. */
const MAX_KEY_BYTES = 2_000;

/** Postgres accepts neither NUL nor a lone surrogate in text. Both are escaped with a backslash, which is doubled itself. */
export function escapeText(text: string): string {
  return text.replaceAll(SPECIAL, (found) => {
    if (found === "\\") return "\\\\";
    return found === "\0" ? "\\0" : `\\u${found.charCodeAt(0).toString(16)}`;
  });
}

export function unescapeText(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replaceAll(ENCODED, (found, code?: string) => {
    if (code) return String.fromCharCode(Number.parseInt(code, 16));
    return found === "\\0" ? "\0" : "\\";
  });
}

/** Encodes a text that is indexed. Throws `INVALID_INPUT` if it is too long for an index. */
export function escapeKey(what: string, text: string): string {
  const encoded = escapeText(text);
  if (Buffer.byteLength(encoded) <= MAX_KEY_BYTES) return encoded;
  throw new CinchError(
    "INVALID_INPUT",
    `${what} is too long: at most ${MAX_KEY_BYTES} bytes can be stored. Shorten it.`,
  );
}

/** Whether Postgres stores the text as it is. */
export const isPlainText = (text: string): boolean => !text.includes("\0") && text.isWellFormed();
