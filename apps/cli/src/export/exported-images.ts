import type { FilePart, Store } from "@cinch/core";
import type { ThreadExport } from "./thread-export.ts";

/** As data URLs, by their blobs. */
export type ExportedImages = ReadonlyMap<string, string>;

/** What browsers show, and what can hold no script. */
const SHOWN: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const MOST_BYTES = 2_000_000;
const MOST_IN_ALL = 20_000_000;

/** The images of a thread. Of others than small ones, and of those that can't be read, an export has the names. */
export async function readImages(store: Store, { messages }: Pick<ThreadExport, "messages">): Promise<ExportedImages> {
  const images = new Map<string, string>();
  let left = MOST_IN_ALL;
  const files = messages.flatMap(({ content }) => content.filter((part): part is FilePart => part.type === "file"));
  for (const { blob, mediaType } of files) {
    if (blob === undefined || images.has(blob) || !SHOWN.has(mediaType)) continue;
    const bytes = await store.blob(blob).catch(() => undefined);
    if (!bytes || bytes.length > Math.min(MOST_BYTES, left)) continue;
    left -= bytes.length;
    images.set(blob, `data:${mediaType};base64,${Buffer.from(bytes).toString("base64")}`);
  }
  return images;
}
