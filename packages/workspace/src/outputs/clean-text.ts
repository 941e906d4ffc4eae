/* oxlint-disable no-control-regex -- control characters are what this is about */

/** Control sequences of terminals: colours, cursor moves, titles, links. A sequence that is cut off at the end counts, too. */
const SEQUENCES = new RegExp(
  [
    // CSI: ESC [ … letter
    "(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*(?:[@-~]|$)",
    // OSC, DCS, SOS, PM, APC: up to BEL or ESC \, and at most to the end of the line, so that an open one does not hide the rest
    "(?:\\u001b[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])[^\\u0007\\u001b\\u009c\\n]*(?:\\u0007|\\u009c|\\u001b\\\\)?",
    // Any other: ESC … one character
    "\\u001b[ -/]*[0-~]?",
  ].join("|"),
  "g",
);

/** Other invisible characters, except tab and line feed. The last ranges change the direction of writing. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Text without control sequences. Of a line that was overwritten, such as a progress bar, only the last state is left. */
export function cleanText(text: string): string {
  const plain = text.replace(SEQUENCES, "").replaceAll("\r\n", "\n");
  return plain.split("\n").map(lastWritten).join("\n").replace(CONTROLS, "");
}

function lastWritten(line: string): string {
  const shown = line.split("\r").findLast((part) => part !== "") ?? "";
  if (!shown.includes("\b")) return shown;
  const kept: string[] = [];
  for (const character of shown) {
    if (character === "\b") kept.pop();
    else kept.push(character);
  }
  return kept.join("");
}
