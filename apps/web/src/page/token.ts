import { inBrowser } from "./ui/kept-texts.ts";

const KEY = "cinch-token";

/**
 * The token comes in the fragment of the address, which no server and no log sees. It leaves the address bar and the history at once. The
 * browser keeps it for this origin, so that other tabs and a reload have it. Returns whether there was one.
 */
export function takeToken(): boolean {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given === null) return false;
  history.replaceState(null, "", location.pathname);
  keepToken(given);
  return true;
}

export const currentToken = (): string | null => inBrowser.get(KEY);
export const keepToken = (token: string): void => inBrowser.set(KEY, token);
