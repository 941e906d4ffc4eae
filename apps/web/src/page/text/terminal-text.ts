// oxlint-disable-next-line no-control-regex
const SEQUENCES = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[PX^_][^\u001B]*(?:\u001B\\)?|[@-Z\\-_])/g;

/** The output of a command as text: without the sequences that move a cursor or set a colour, and with lines as they were overwritten. */
export function plainOutput(output: string): string {
  return output
    .replace(SEQUENCES, "")
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf("\r") + 1))
    .join("\n");
}
