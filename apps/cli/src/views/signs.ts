import type { Span } from "../terminal/line.ts";
import { span } from "./spans.ts";
import type { ViewContext } from "./view.ts";

const SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
/** How long each sign of a spinner stands. */
export const SPINNER_MS = 100;

/** How something ended, or that it has not. The screen replaces them where there is no Unicode. */
export const signs = {
  done: span("✓", { color: "green" }),
  failed: span("✗", { color: "red" }),
  asks: span("?", { color: "magenta", bold: true }),
  unknown: span("?", { color: "red" }),
  pending: span("…", { dim: true }),
  folded: span("▸", { dim: true }),
} as const;

export const spinner = ({ now }: ViewContext): Span =>
  span(SPINNER[Math.floor(Math.max(now, 0) / SPINNER_MS) % SPINNER.length]!, { color: "cyan" });
