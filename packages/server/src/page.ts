import { gzipSync } from "node:zlib";
import { HttpError } from "./http/http-error.ts";

/** A file of the page, by its path such as `/app.js`; `/` is the page itself. */
export interface PageFile {
  bytes: Uint8Array<ArrayBuffer>;
  mediaType: string;
  /** The name changes with the contents, so a browser may keep it for ever. */
  immutable?: boolean;
}

/** The files of a web page that is served beside the routes, without a token: they must hold no secret. */
export type Page = ReadonlyMap<string, PageFile>;

/** The page may load its own files alone, runs no text as code, and stands in no frame. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** `null`: the path is not one of the page. */
export function pageResponse(page: Page, request: Request): Response | null {
  const { pathname } = new URL(request.url);
  const file = page.get(pathname);
  if (!file) return null;
  if (request.method !== "GET" && request.method !== "HEAD")
    throw new HttpError(405, "METHOD_NOT_ALLOWED", "Use GET.", { headers: { allow: "GET, HEAD" } });
  const headers = {
    "content-type": file.mediaType,
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cache-control": file.immutable ? "public, max-age=31536000, immutable" : "no-cache",
  };
  const takesGzip = /\bgzip\b/.test(request.headers.get("accept-encoding") ?? "");
  const body = takesGzip ? compressedFile(file) : file.bytes;
  const more = { vary: "accept-encoding", ...(takesGzip ? { "content-encoding": "gzip" } : {}) };
  return new Response(request.method === "HEAD" ? null : body, { headers: { ...headers, ...more } });
}

const compressed = new WeakMap<PageFile, Uint8Array<ArrayBuffer>>();

/** A file of the page never changes, so it is compressed once. */
function compressedFile(file: PageFile): Uint8Array<ArrayBuffer> {
  const known = compressed.get(file) ?? new Uint8Array(gzipSync(file.bytes));
  compressed.set(file, known);
  return known;
}
