import { searchHistory, type HistoryMatch } from "../composer/history-walk.ts";

/** A search in the history, newest entry first. `match`: what was found last, also while the query finds nothing more. */
export interface HistorySearch {
  query: string;
  match: HistoryMatch | null;
  /** The query, as it is now, finds nothing. */
  failed: boolean;
}

export const newSearch: HistorySearch = { query: "", match: null, failed: false };

/** After a letter was typed or removed: from the newest entry on. */
export function searchFor(query: string, entries: readonly string[]): HistorySearch {
  const match = searchHistory(entries, query) ?? null;
  return { query, match, failed: query !== "" && match === null };
}

/** The next older entry with another text. */
export function searchOlder(search: HistorySearch, entries: readonly string[]): HistorySearch {
  const { query, match } = search;
  const older = match && searchHistory(entries, query, { before: match.index, except: match.text });
  return older ? { query, match: older, failed: false } : { ...search, failed: query !== "" };
}
