import { plain, short } from "../terminal/sanitise.ts";
import { callMark, revealed, summaryOf, timeOf } from "./export-text.ts";
import { sectionsOf, type ExportBlock, type ExportedCall, type ExportSection } from "./sections.ts";
import type { ThreadExport } from "./thread-export.ts";

/** A thread as Markdown. What tools were given and returned is in code blocks, which it can't leave. */
export function exportMarkdown(thread: ThreadExport): string {
  const title = `# ${escaped(short(thread.title) || "(no title)")}`;
  return `${[title, summaryOf(thread), ...sectionsOf(thread).map(sectionMarkdown)].join("\n\n")}\n`;
}

function sectionMarkdown({ who, at, blocks }: ExportSection): string {
  const body = blocks.map(blockMarkdown).join("\n\n");
  if (who === "end") return `*${body}*`;
  return `## ${who}${at === null ? "" : ` · ${timeOf(at)}`}\n\n${body}`;
}

function blockMarkdown(block: ExportBlock): string {
  switch (block.kind) {
    case "text":
      return plain(block.text).trimEnd();
    case "reasoning":
      return plain(block.text).trimEnd().replace(/^/gm, "> ");
    case "file":
      return `*File: ${escaped(short(block.name))}*`;
    case "call":
      return callMarkdown(block);
  }
}

function callMarkdown(call: ExportedCall): string {
  const title = `**${escaped(short(call.name))}** ${callMark(call)}`;
  const input = call.input === "" ? [] : [fenced(revealed(call.input), "")];
  const result = call.diff ?? call.output;
  const output = result === null || result === "" ? [] : [fenced(plain(result), call.diff === null ? "text" : "diff")];
  return [title, ...input, ...output].join("\n\n");
}

/** The fence is longer than any in the text. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

const escaped = (text: string): string => text.replace(/[\\`*_[\]<>#|~]/g, "\\$&");
