import { tokensIn } from "./token-count.ts";
import { plain, reveal, short } from "../terminal/sanitise.ts";
import { isSaid, sectionsOf, type ExportBlock, type ExportedCall, type ExportSection } from "./sections.ts";
import type { ThreadExport } from "./thread-export.ts";

/** A thread as plain text, for a terminal: no control sequence of a model, a tool or a title is in it. */
export function exportText(thread: ThreadExport): string {
  const head = [short(thread.title) || "(no title)", summaryOf(thread)];
  const sections = sectionsOf(thread).map(sectionText);
  return `${[head.join("\n"), ...sections].join("\n\n")}\n`;
}

/** One line about the thread: its id, when it began, and what it used. */
export function summaryOf({ id, createdAt, messages, usage, cost, modelId }: ThreadExport): string {
  const spent = cost === null || cost === 0 ? [] : [`$${cost.toFixed(2)}`];
  const used = tokensIn(usage);
  const said = messages.filter(isSaid).length;
  const counted = `${said} ${said === 1 ? "message" : "messages"}`;
  const parts = [id, timeOf(createdAt), counted, `${used} tokens`, ...spent, ...(modelId ? [modelId] : [])];
  return short(parts.join(" · "), 300);
}

/** In UTC, so that the same thread is the same file everywhere. */
export const timeOf = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;

function sectionText({ who, blocks }: ExportSection): string {
  const body = blocks.map(blockText).join("\n");
  return who === "end" ? `-- ${body}` : `${who}\n${indented(body)}`;
}

function blockText(block: ExportBlock): string {
  switch (block.kind) {
    case "text":
      return plain(block.text).trimEnd();
    case "reasoning":
      return `(thought) ${plain(block.text).trimEnd()}`;
    case "file":
      return `[file: ${short(block.name)}]`;
    case "call":
      return callText(block);
  }
}

function callText(call: ExportedCall): string {
  const input = revealed(call.input);
  const shown = input.includes("\n") ? `\n${indented(input)}` : ` ${input}`;
  const result = call.diff ?? call.output ?? "";
  const lines = result === "" ? "" : `\n${indented(plain(result).trimEnd())}`;
  return `${callMark(call)} ${short(call.name)}${shown}${lines}`.trimEnd();
}

export const callMark = ({ status, durationMs }: ExportedCall): string => {
  const took = durationMs >= 1_000 ? ` (${(durationMs / 1_000).toFixed(1)} s)` : "";
  return `[${status}${took}]`;
};

/** What was run is shown as it was, with every character that a reader can't see as its code point. */
export const revealed = (text: string): string =>
  text
    .split(/([\n\t])/)
    .map((piece) => (piece === "\n" || piece === "\t" ? piece : reveal(piece)))
    .join("");

const indented = (text: string): string => text.replace(/^(?=.)/gm, "  ");
