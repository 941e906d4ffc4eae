import type { HarnessMessage } from "./display-state.ts";
import { withoutLive } from "./display-parts.ts";
import type { Folds } from "./folds.ts";

/** How many characters are printed or parsed between two pauses. */
const PIECE = 256 * 1024;

/** Yields to the event loop, so that a large fold does not block it. */
export type Pause = () => Promise<void>;

/** Serialises folds: one line for everything but the messages, then one line per message. */
export async function printFolds({ state, parts }: Folds, pause: Pause): Promise<string> {
  const { messages, ...rest } = withoutLive(parts);
  const lines = [JSON.stringify({ state, parts: rest })];
  await inPieces(messages, pause, (message) => lines[lines.push(JSON.stringify(message)) - 1]!.length);
  return lines.join("\n");
}

export async function parseFolds(text: string, pause: Pause): Promise<Folds> {
  const [first = "", ...lines] = text.split("\n");
  const { state, parts } = JSON.parse(first) as Folds;
  const messages: HarnessMessage[] = [];
  await inPieces(lines, pause, (line) => {
    messages.push(JSON.parse(line) as HarnessMessage);
    return line.length;
  });
  return { state, parts: { ...parts, messages } };
}

/** `handle` returns how many characters an item took. */
async function inPieces<T>(items: readonly T[], pause: Pause, handle: (item: T) => number): Promise<void> {
  let since = 0;
  for (const item of items) {
    since += handle(item);
    if (since < PIECE) continue;
    since = 0;
    await pause();
  }
}
