import { plain, short } from "../terminal/sanitise.ts";
import { escapeHtml } from "./escape-html.ts";
import { callMark, revealed, summaryOf, timeOf } from "./export-text.ts";
import { markdownHtml } from "./markdown-html.ts";
import type { ExportedImages } from "./exported-images.ts";
import { sectionsOf, type ExportBlock, type ExportedCall, type ExportedFile, type ExportSection } from "./sections.ts";
import type { ThreadExport } from "./thread-export.ts";

/** Longer results are folded. */
const OPEN_LINES = 20;

/** A thread as one file: no script, nothing from elsewhere, and every foreign text escaped. */
export function exportHtml(thread: ThreadExport, images: ExportedImages = new Map()): string {
  const title = escapeHtml(short(thread.title) || "(no title)");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>${title}</h1>
<p class="about">${escapeHtml(summaryOf(thread))}</p>
</header>
<main>
${sectionsOf(thread)
  .map((section) => sectionHtml(section, images))
  .join("\n")}
</main>
</body>
</html>
`;
}

function sectionHtml({ who, at, blocks }: ExportSection, images: ExportedImages): string {
  const heading = who === "end" ? "" : `<h2>${who}${at === null ? "" : ` <time>${timeOf(at)}</time>`}</h2>\n`;
  const body = blocks
    .map((block) => (block.kind === "file" ? fileHtml(block, images) : blockHtml(block, who)))
    .join("\n");
  return `<section class="${who.toLowerCase()}">\n${heading}${body}\n</section>`;
}

function fileHtml({ name, blob }: ExportedFile, images: ExportedImages): string {
  const image = blob === null ? undefined : images.get(blob);
  const named = `<p class="about">File: ${escapeHtml(short(name))}</p>`;
  return image === undefined ? named : `${named}\n<img src="${escapeHtml(image)}" alt="${escapeHtml(short(name))}">`;
}

function blockHtml(block: Exclude<ExportBlock, ExportedFile>, who: ExportSection["who"]): string {
  switch (block.kind) {
    case "text":
      // What the user typed is shown as it was typed.
      return who === "cinch" ? markdownHtml(plain(block.text)) : `<pre class="prose">${prose(block.text)}</pre>`;
    case "reasoning":
      return `<details><summary>thought</summary><pre class="prose">${prose(block.text)}</pre></details>`;
    case "call":
      return callHtml(block);
  }
}

const prose = (text: string): string => escapeHtml(plain(text).trimEnd());

function callHtml(call: ExportedCall): string {
  const title = `<p class="call ${call.status}"><b>${escapeHtml(short(call.name))}</b> ${callMark(call)}</p>`;
  const input = call.input === "" ? "" : `<pre class="input">${escapeHtml(revealed(call.input))}</pre>`;
  return `<div class="tool">\n${title}\n${input}\n${resultHtml(call)}\n</div>`;
}

function resultHtml({ diff, output }: ExportedCall): string {
  if (diff !== null) return `<pre class="diff">${plain(diff).trimEnd().split("\n").map(diffLine).join("\n")}</pre>`;
  if (output === null || output === "") return "";
  const text = prose(output);
  const lines = text.split("\n").length;
  if (lines <= OPEN_LINES) return `<pre>${text}</pre>`;
  return `<details><summary>${lines} lines</summary><pre>${text}</pre></details>`;
}

function diffLine(line: string): string {
  const text = escapeHtml(line);
  if (line.startsWith("+")) return `<ins>${text}</ins>`;
  return line.startsWith("-") ? `<del>${text}</del>` : text;
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fff; --faint: #666; --box: #f4f4f4; --line: #ddd; --add: #116329; --addbg: #e6ffec; --cut: #a40e26; --cutbg: #ffebe9; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e4e4; --paper: #161616; --faint: #999; --box: #222; --line: #383838; --add: #7ee787; --addbg: #12261e; --cut: #ffa198; --cutbg: #2d1517; } }
body { color: var(--ink); background: var(--paper); font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1rem; margin: 2rem 0 .5rem; }
time, .about, .call, summary { color: var(--faint); font-weight: normal; font-size: .85rem; }
pre, code { font: 13px/1.45 ui-monospace, monospace; background: var(--box); border-radius: 4px; }
pre { padding: .6rem .8rem; overflow-x: auto; } code { padding: .1em .3em; } pre code { padding: 0; }
pre.prose { font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; }
pre.input { white-space: pre-wrap; overflow-wrap: anywhere; }
.you pre.prose { border-left: 3px solid var(--faint); }
.end { color: var(--faint); } .tool { border-left: 3px solid var(--line); padding-left: .8rem; margin: .8rem 0; }
.failed b, .unknown b { color: var(--cut); }
ins, del { text-decoration: none; } ins { color: var(--add); background: var(--addbg); } del { color: var(--cut); background: var(--cutbg); }
img { max-width: 100%; } table { border-collapse: collapse; } td, th { border: 1px solid var(--line); padding: .2rem .5rem; }
`;
