const ESCAPE = String.fromCharCode(27);
const BELL = String.fromCharCode(7);
/** Colours and movements of the cursor, titles and links, and other strings that are meant for a terminal. */
const SEQUENCES = new RegExp(
  [
    `${ESCAPE}\\[[0-?]*[ -/]*[@-~]`,
    `${ESCAPE}\\][^${BELL}${ESCAPE}]*(?:${BELL}|${ESCAPE}\\\\)?`,
    `${ESCAPE}[PX^_][^${ESCAPE}]*(?:${ESCAPE}\\\\)?`,
    `${ESCAPE}[@-Z\\\\-_]`,
  ].join("|"),
  "g",
);

/** The output of a command as text: without the sequences that move a cursor or set a colour, and with lines as they were overwritten. */
export function plainOutput(output: string): string {
  return output
    .replace(SEQUENCES, "")
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf("\r") + 1))
    .join("\n");
}
