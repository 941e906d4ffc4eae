import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { InputFile } from "@cinch/core";

/** Providers refuse larger images. */
const MAX_BYTES = 5 * 1024 * 1024;
/** A pipe would otherwise wait for a writer. */
const WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const IMAGE_NAME = /\.(?:png|jpe?g|gif|webp)$/i;

export type Attachment = { kind: "file"; file: InputFile } | { kind: "refused"; reason: string };

/**
 * The path of an image, if a pasted text is one. A terminal into which a file is dragged pastes its path: quoted, escaped for a shell, or
 * as a URL.
 */
export function imagePath(pasted: string): string | undefined {
  const trimmed = pasted.trim();
  if (trimmed === "" || trimmed.includes("\n") || trimmed.length > 4_096) return undefined;
  const path = unquoted(trimmed);
  return path !== undefined && IMAGE_NAME.test(path) ? path : undefined;
}

function unquoted(word: string): string | undefined {
  if (word.startsWith("file://")) return pathOfUrl(word);
  const quoted = /^'([^']*)'$|^"([^"]*)"$/.exec(word);
  const escaped = process.platform === "win32" ? word : word.replace(/\\(.)/g, "$1");
  const path = quoted ? (quoted[1] ?? quoted[2]!) : escaped;
  // A name alone, or words that end with one, may be what the user writes about.
  return /^(?:~?\/|[A-Za-z]:[\\/])/.test(path) ? path : undefined;
}

function pathOfUrl(url: string): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}

/** Reads an image. A relative path starts at `folder`. */
export async function imageFile(path: string, folder: string): Promise<Attachment> {
  const absolute = path.startsWith("~/") ? join(homedir(), path.slice(2)) : resolve(folder, path);
  try {
    await using handle = await open(absolute, WITHOUT_WAITING);
    const { size } = await checkedFile(handle);
    if (size > MAX_BYTES) return tooLarge(path, size);
    return imageOf(new Uint8Array(await handle.readFile()), isAbsolute(path) ? basename(path) : path);
  } catch (error) {
    return refused(path, readableReason(error));
  }
}

/** An image from the clipboard has no name. */
export function imageOf(data: Uint8Array, filename?: string): Attachment {
  const name = filename ?? "The image in the clipboard";
  if (data.length > MAX_BYTES) return tooLarge(name, data.length);
  if (data.length === 0) return refused(name, "it is empty");
  const mediaType = imageType(data);
  if (!mediaType) return refused(name, "it is no PNG, JPEG, GIF or WebP image");
  return { kind: "file", file: { mediaType, data, ...(filename === undefined ? {} : { filename }) } };
}

/** A device could be read for ever. */
async function checkedFile(handle: {
  stat(): Promise<{ isFile(): boolean; size: number }>;
}): Promise<{ size: number }> {
  const stat = await handle.stat();
  if (!stat.isFile()) throw new Error("it is no file");
  return stat;
}

/** By its first bytes: the end of a name may lie, and providers refuse what does not fit its type. */
function imageType(data: Uint8Array): string | undefined {
  const ascii = (start: number, end: number) => String.fromCharCode(...data.subarray(start, end));
  if (ascii(0, 8) === "\u0089PNG\r\n\u001a\n") return "image/png";
  if (data[0] === 0xff && data[1] === 0xd8 && data[2] === 0xff) return "image/jpeg";
  if (ascii(0, 6) === "GIF87a" || ascii(0, 6) === "GIF89a") return "image/gif";
  if (ascii(0, 4) === "RIFF" && ascii(8, 12) === "WEBP") return "image/webp";
  return undefined;
}

const refused = (name: string, why: string): Attachment => ({
  kind: "refused",
  reason: `${name} is not attached: ${why}.`,
});

const tooLarge = (name: string, bytes: number): Attachment =>
  refused(
    name,
    `it has ${megabytes(bytes)} MB, and at most ${megabytes(MAX_BYTES)} are allowed. Make it smaller first`,
  );

const megabytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1);

function readableReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case "ENOENT":
      return "there is no such file";
    case "EACCES":
    case "EPERM":
      return "you may not read it";
    case "EISDIR":
      return "it is a folder";
    default:
      return message;
  }
}
