import type { HarnessMessage } from "./display-state.ts";
import { withoutLive, type DisplayParts } from "./display-parts.ts";
import type { Folds } from "./folds.ts";

/** How many characters are printed or parsed between two pauses. */
const PIECE = 256 * 1024;
/** Messages up to this many characters are parsed when they are first read: most threads are opened to be driven, not to be shown. */
const PARSED_LATER = 4 * PIECE;

/** Yields to the event loop, so that a large fold does not block it. */
export type Pause = () => Promise<void>;

/** The first line: everything but the messages, and how many characters the lines of the messages have. */
interface FirstLine {
  state: Folds["state"];
  parts: Omit<DisplayParts, "messages">;
  chars: number;
}

/** Serialises folds: one line for everything but the messages, then one line per message. */
export async function printFolds({ state, parts }: Folds, pause: Pause): Promise<string> {
  const { messages, ...rest } = withoutLive(parts);
  const lines: string[] = [];
  await inPieces(messages, pause, (message) => lines[lines.push(JSON.stringify(message)) - 1]!.length);
  const printed = lines.join("\n");
  const first: FirstLine = { state, parts: rest, chars: printed.length };
  return `${JSON.stringify(first)}\n${printed}`;
}

/** The store has verified that the text is as it was saved. Throws if it is not one of `printFolds`, or was cut. */
export async function parseFolds(text: string, pause: Pause): Promise<Folds> {
  const end = text.indexOf("\n");
  const { state, parts, chars } = JSON.parse(text.slice(0, end)) as FirstLine;
  const printed = text.slice(end + 1);
  if (printed.length !== chars) throw new SyntaxError("The saved fold was cut.");
  if (chars <= PARSED_LATER) return { state, parts: withMessages(parts, () => linesOf(printed).map(messageIn)) };
  const messages: HarnessMessage[] = [];
  await inPieces(linesOf(printed), pause, (line) => {
    messages.push(messageIn(line));
    return line.length;
  });
  return { state, parts: { ...parts, messages } };
}

const linesOf = (text: string): string[] => (text === "" ? [] : text.split("\n"));

const messageIn = (line: string): HarnessMessage => JSON.parse(line) as HarnessMessage;

/** Parses the messages once, when they are first read. */
function withMessages(rest: FirstLine["parts"], parse: () => HarnessMessage[]): DisplayParts {
  const shape = { enumerable: true, configurable: true };
  const parts = Object.defineProperty({ ...rest }, "messages", {
    ...shape,
    get() {
      const value = parse();
      Object.defineProperty(parts, "messages", { ...shape, writable: true, value });
      return value;
    },
  }) as DisplayParts;
  return parts;
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
