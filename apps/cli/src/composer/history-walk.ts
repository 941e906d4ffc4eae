/** Where Up and Down have led. A value: it is dropped when the text is sent. */
export interface HistoryWalk {
  /** An index of the entries; their number stands for the text that was being written. */
  index: number;
  /** What the user made of the entries that were passed, and the text that was being written. Nothing typed is lost. */
  texts: Readonly<Record<number, string>>;
}

export interface WalkStep {
  walk: HistoryWalk;
  text: string;
}

export interface WalkOptions {
  entries: readonly string[];
  /** What stands in the composer now. */
  text: string;
  by: -1 | 1;
}

/** `undefined` if there is nothing older, or newer. */
export function walkHistory(walk: HistoryWalk | null, { entries, text, by }: WalkOptions): WalkStep | undefined {
  const { index, texts } = walk ?? { index: entries.length, texts: {} };
  const next = index + by;
  if (next < 0 || next > entries.length) return undefined;
  const kept = { ...texts, [index]: text };
  return { walk: { index: next, texts: kept }, text: kept[next] ?? entries[next] ?? "" };
}

export interface HistoryMatch {
  index: number;
  text: string;
  /** Where the query is in the text. */
  at: number;
}

/** The newest entry before an index that contains the query. Small letters also find capitals. An entry that equals `except` is skipped. */
export function searchHistory(
  entries: readonly string[],
  query: string,
  { before = entries.length, except }: { before?: number; except?: string } = {},
): HistoryMatch | undefined {
  if (query === "") return undefined;
  const fold = query === query.toLowerCase() ? (text: string) => text.toLowerCase() : (text: string) => text;
  for (let index = Math.min(before, entries.length) - 1; index >= 0; index--) {
    const text = entries[index]!;
    const at = fold(text).indexOf(query);
    if (at !== -1 && text !== except) return { index, text, at };
  }
  return undefined;
}
