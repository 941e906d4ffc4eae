import type { Env } from "../models/providers.ts";
import { featuresOf } from "../terminal/features.ts";
import type { Diagnosis } from "./diagnosis.ts";

interface TerminalSize {
  columns: number;
  rows: number;
}

/** `size`: `undefined` where stdout is no terminal. */
export function diagnoseTerminal(env: Env, size: TerminalSize | undefined): Diagnosis[] {
  const area = "terminal";
  if (!size) return [{ area, status: "ok", message: "stdout is no terminal: cinch would print lines of text" }];
  const { colors, unicode, reflow } = featuresOf(env);
  const term = env["TERM"] || "not set";
  const has = [
    colors ? "colours" : "no colours (NO_COLOR)",
    unicode ? "UTF-8" : "no UTF-8",
    reflow ? "reflow" : "no reflow",
  ];
  const shown = `${size.columns} × ${size.rows}, TERM ${term}, ${has.join(", ")}`;
  if (term === "dumb" || term === "not set")
    return [
      { area, status: "warn", message: `${shown}: lines of text`, next: "set TERM, for example to xterm-256color" },
    ];
  if (!unicode) return [{ area, status: "warn", message: shown, next: "set LANG=C.UTF-8, for more than ASCII signs" }];
  if (size.columns < 40 || size.rows < 10)
    return [{ area, status: "warn", message: shown, next: "make the window larger: 80 × 24 shows everything" }];
  return [{ area, status: "ok", message: shown }];
}
