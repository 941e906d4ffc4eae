import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";

/** By path: `/` is the page itself. */
export type WebPage = ReadonlyMap<string, { bytes: Uint8Array<ArrayBuffer>; mediaType: string; immutable?: boolean }>;

const MEDIA_TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".webmanifest": "application/manifest+json",
};

/** Reads the built page of this package. In a checkout that was not built, the page is built in memory. */
export async function webPage(): Promise<WebPage> {
  const folder = join(import.meta.dirname, "built");
  if (existsSync(folder)) return pageIn(folder);
  const { builtPage } = (await import(new URL("../build/built-page.ts", import.meta.url).href)) as {
    builtPage: () => Promise<ReadonlyMap<string, Uint8Array<ArrayBuffer>>>;
  };
  return asPage(await builtPage());
}

async function pageIn(folder: string): Promise<WebPage> {
  const names = await readdir(folder);
  const files = await Promise.all(
    names.map(async (name) => [name, new Uint8Array(await readFile(join(folder, name)))] as const),
  );
  return asPage(new Map(files));
}

function asPage(files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>): WebPage {
  const entries = [...files].map(([name, bytes]) => {
    const path = name === "index.html" ? "/" : `/${name}`;
    const mediaType = MEDIA_TYPES[extname(name)] ?? "application/octet-stream";
    return [path, { bytes, mediaType, immutable: /-[A-Z0-9]{8}\.\w+$/.test(name) }] as const;
  });
  return new Map(entries);
}
