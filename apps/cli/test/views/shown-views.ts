import type { Line } from "../../src/terminal/line.ts";
import { Row } from "../../src/terminal/row.ts";
import type { ViewContext } from "../../src/views/view.ts";
import { noActivity } from "../../src/app/activity.ts";

export const contextOf = (width: number, now = 0): ViewContext & { rows: number; activity: typeof noActivity } => ({
  width,
  now,
  unicode: true,
  rows: 24,
  activity: noActivity,
});

/** A line as the screen writes it, with escape as `␛`. */
export const writtenText = (shown: Line, { colors, unicode }: { colors: boolean; unicode: boolean }): string =>
  Row.of(shown, { colors, unicode, reflow: true }).bytes.replaceAll("\u001b", "␛");
