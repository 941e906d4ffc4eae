/** A thread as a file: read from the store without opening it, and written as text, Markdown, JSON or HTML. All but the reading is pure. */
import type { ExportFormat } from "../command-table.ts";
import { exportHtml } from "./export-html.ts";
import { exportJson } from "./export-json.ts";
import { exportMarkdown } from "./export-markdown.ts";
import type { ThreadExport } from "./thread-export.ts";

export { exportText } from "./export-text.ts";
export { readThread, type ThreadExport } from "./thread-export.ts";

const WRITERS = { markdown: exportMarkdown, json: exportJson, html: exportHtml } as const;

export const exportAs = (format: ExportFormat, thread: ThreadExport): string => WRITERS[format](thread);
