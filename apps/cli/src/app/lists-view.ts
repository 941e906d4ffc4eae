import { line, text, type Line } from "../terminal/line.ts";
import { clipped, widthOf } from "../terminal/width.ts";
import { roomOf } from "../views/spans.ts";
import type { ViewContext } from "../views/view.ts";
import type { CompletionList } from "./completion-list.ts";
import type { HistorySearch } from "./history-search.ts";
import type { CommandOutput } from "./ui-state.ts";

/** The choices for the word at the cursor, with what each is. */
export function completionLines({ choices, selected }: CompletionList, { width }: ViewContext): Line[] {
  const widest = Math.max(...choices.map(({ label }) => widthOf(text(label))));
  const column = Math.min(widest, Math.floor(width / 2));
  return choices.map(({ label, description }, at) => {
    const shown = clipped(text(label), description ? column : Math.max(0, width - 3));
    const padding = description ? " ".repeat(Math.max(0, column - widthOf(shown)) + 2) : "";
    const sign = at === selected ? "› " : "  ";
    return {
      spans: [
        { text: text(sign + shown), style: at === selected ? { bold: true } : {} },
        { text: text(padding + (description ?? "")), style: { dim: true } },
      ],
      wrap: "none",
    };
  });
}

/** The entry that was found, with the query marked. */
export function historySearchLines({ query, match, failed }: HistorySearch): Line[] {
  const asked: Line = {
    spans: [
      { text: text(failed ? "nothing older has: " : "search the history: "), style: { dim: true } },
      { text: text(query) },
    ],
    wrap: "none",
  };
  if (!match) return [asked];
  const { text: found, at } = match;
  const shown = Math.max(0, at - 20);
  const entry: Line = {
    spans: [
      { text: text(`  ${shown > 0 ? "…" : ""}${found.slice(shown, at)}`) },
      { text: text(found.slice(at, at + query.length)), style: { underline: true } },
      { text: text(found.slice(at + query.length, at + query.length + 500)) },
    ],
    wrap: "none",
  };
  return [entry, asked];
}

const MIN_COMMAND = 10;

/** What the next message takes along. A long command is shortened, so that the sentence is one row where the screen is wide enough. */
export function outputLines(outputs: readonly CommandOutput[], context: ViewContext): Line[] {
  const sentence = (command: string) => `+ the output of ${command} goes with the next message`;
  const room = Math.max(MIN_COMMAND, roomOf(context) - widthOf(sentence("")));
  return outputs.map(({ command }) => {
    const whole = text(command);
    const shown = widthOf(whole) <= room ? whole : `${clipped(whole, room - 1)}…`;
    return line(sentence(shown), { dim: true });
  });
}
