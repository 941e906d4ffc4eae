/* oxlint-disable no-control-regex -- control characters are what this is about */

/** Commands to a terminal: colours, cursor moves, titles, links. One that was cut off at the end counts, too. */
const SEQUENCES = new RegExp(
  [
    // CSI: ESC [ … letter
    "(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*(?:[@-~]|$)",
    // OSC, DCS, SOS, PM, APC: up to BEL or ESC \; but never more than a line, or one that is not ended would hide the rest
    "(?:\\u001b[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])[^\\u0007\\u001b\\u009c\\n]*(?:\\u0007|\\u009c|\\u001b\\\\)?",
    // Any other: ESC … one character
    "\\u001b[ -/]*[0-~]?",
  ].join("|"),
  "g",
);

/** What is left of the characters that show nothing: all but tab and line feed. The last ones turn the direction of writing around. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Text as somebody sees it who is no terminal: without control sequences, and of a line that was written over and over, such as a
 * progress bar, only what it said last.
 */
export function cleanText(text: string): string {
  const plain = text.replace(SEQUENCES, "").replaceAll("\r\n", "\n");
  const lines = plain.includes("\r") || plain.includes("\b") ? plain.split("\n").map(lastWritten).join("\n") : plain;
  return lines.replace(CONTROLS, "");
}

function lastWritten(line: string): string {
  if (!line.includes("\r") && !line.includes("\b")) return line;
  const shown = line.split("\r").findLast((part) => part !== "") ?? "";
  if (!shown.includes("\b")) return shown;
  const kept: string[] = [];
  for (const character of shown) {
    if (character === "\b") kept.pop();
    else kept.push(character);
  }
  return kept.join("");
}
