/** What a terminal can show, by what its environment says. */
export interface Features {
  colors: boolean;
  unicode: boolean;
  /** After a resize, the terminal breaks its lines anew. */
  reflow: boolean;
}

export function featuresOf(env: Record<string, string | undefined>): Features {
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"];
  const windows = env["OS"] === "Windows_NT";
  return {
    colors: !env["NO_COLOR"],
    // Where no locale is set at all, as in most containers, terminals are UTF-8; "C" and "POSIX" are set on purpose.
    unicode: !locale || windows || /utf-?8/i.test(locale),
    reflow:
      env["TMUX"] !== undefined || !(env["XTERM_VERSION"] || env["STY"] || /^(linux|rxvt)/.test(env["TERM"] ?? "")),
  };
}

/** Whether the user, or the terminal, wants lines of text: a screen reader, braille, a shell in an editor. */
export const isForLines = (env: Record<string, string | undefined>): boolean =>
  env["TERM"] === "dumb" || Boolean(env["ACCESSIBLE"]);
