import type { Line } from "../../terminal/line.ts";
import type { CommandContext } from "./command.ts";

/** Prints what fits on the screen together with the composer. What is longer opens in the pager. */
export async function present(
  context: CommandContext,
  { title, lines }: { title: string; lines: readonly Line[] },
): Promise<void> {
  const room = context.screen().rows - COMPOSER_ROWS;
  if (lines.length > room) return context.page({ title, lines });
  context.print(lines);
}

const COMPOSER_ROWS = 6;
