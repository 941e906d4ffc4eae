/** A thread as a file: read from the store without opening it, and written as text, Markdown, JSON or HTML. All but the reading is pure. */
import type { Store, ThreadRecord } from "@cinch/core";
import type { ExportFormat } from "../command-table.ts";
import { exportHtml } from "./export-html.ts";
import { exportJson } from "./export-json.ts";
import { exportMarkdown } from "./export-markdown.ts";
import { readImages } from "./exported-images.ts";
import { readThread, type ThreadExport } from "./thread-export.ts";

export { exportText } from "./export-text.ts";
export { readThread, type ThreadExport } from "./thread-export.ts";

const WRITERS = { markdown: exportMarkdown, json: exportJson, html: exportHtml } as const;

/** Of all formats, HTML alone has the images themselves: it is for people, and one file. */
export async function exportFrom(store: Store, record: ThreadRecord, format: ExportFormat): Promise<string> {
  const thread = await readThread(store, record);
  return format === "html" ? exportHtml(thread, await readImages(store, thread)) : exportAs(format, thread);
}

export const exportAs = (format: ExportFormat, thread: ThreadExport): string => WRITERS[format](thread);
