import type { InputFile } from "@cinch/core";

/** What a label in the text stands for. */
export type Attached = { kind: "text"; text: string } | { kind: "file"; file: InputFile };

/** By label. A label in the text is one unit: the cursor does not enter it, and a deletion removes it whole. */
export type AttachedByLabel = Readonly<Record<string, Attached>>;

/** A larger paste would hide what the user writes. */
const MAX_SHOWN_CHARS = 1_000;
const MAX_SHOWN_LINES = 10;

export function isLargePaste(pasted: string): boolean {
  if (pasted.length > MAX_SHOWN_CHARS) return true;
  return pasted.split("\n").length > MAX_SHOWN_LINES;
}

/** A label that is not in use. */
export function labelFor(attached: Attached, used: AttachedByLabel): string {
  const number = Object.keys(used).length + 1;
  if (attached.kind === "file")
    return `[image ${number}${attached.file.filename ? `: ${fileLabel(attached.file.filename)}` : ""}]`;
  const lines = attached.text.split("\n").length;
  return `[paste ${number}: ${lines > 1 ? `${lines} lines` : `${attached.text.length} characters`}]`;
}

/** The end of a name says most. A label is one line, and ends at its bracket. */
function fileLabel(filename: string): string {
  const name = filename.toWellFormed().replace(/[\p{Cc}[\]]/gu, "");
  const letters = Array.from(name);
  return letters.length > 40 ? `…${letters.slice(-39).join("")}` : name;
}

/** The text and files of a message: pastes stand where their labels were, files follow in the order of theirs. */
export function expanded(text: string, attached: AttachedByLabel): { content: string; files: InputFile[] } {
  const files: InputFile[] = [];
  let content = "";
  let start = 0;
  for (const { at, label } of labelsIn(text, attached)) {
    const { [label]: meant } = attached;
    content += text.slice(start, at);
    if (meant?.kind === "text") content += meant.text;
    else {
      // The label stays, so that the text can refer to the image.
      content += label;
      if (meant) files.push(meant.file);
    }
    start = at + label.length;
  }
  return { content: content + text.slice(start), files };
}

export interface PlacedLabel {
  at: number;
  label: string;
}

/** The labels in a text, in order. */
export function labelsIn(text: string, attached: AttachedByLabel): PlacedLabel[] {
  return Object.keys(attached)
    .flatMap((label) => placesOf(text, label).map((at) => ({ at, label })))
    .toSorted((a, b) => a.at - b.at);
}

function placesOf(text: string, label: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(label); at !== -1; at = text.indexOf(label, at + label.length)) places.push(at);
  return places;
}
