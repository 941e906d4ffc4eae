import { terminalJson } from "../terminal-json.ts";
import type { ThreadExport } from "./thread-export.ts";

/** A thread as JSON: all messages with the outcomes of their calls, and what the thread used. */
export const exportJson = (thread: ThreadExport): string => `${terminalJson(thread, 2)}\n`;
