const KEY = "cinch-token";

/**
 * The token comes in the fragment of the address, which no server and no log sees. It leaves the address bar and the history at once. The
 * browser keeps it for this origin, so that other tabs and a reload have it.
 */
export function takeToken(): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given === null) return currentToken();
  history.replaceState(null, "", location.pathname);
  keepToken(given);
  return given;
}

export const currentToken = (): string | null => localStorage.getItem(KEY);
export const keepToken = (token: string): void => localStorage.setItem(KEY, token);
