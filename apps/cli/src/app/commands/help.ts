import { line } from "../../terminal/line.ts";
import type { AppCommand } from "./command.ts";
import { present } from "./present.ts";
import { headingLine, columnLines } from "./columns.ts";

/** Made from the lists that are in force. */
export const helpCommand = (all: () => readonly AppCommand[]): AppCommand => ({
  name: "help",
  description: "show commands and keys",
  async run(_argument, context) {
    const screen = context.screen();
    const commands = all().map(({ name, argument = "", description }) => [
      `/${name} ${argument}`.trimEnd(),
      description,
    ]);
    const keys = context.keys().map(({ keys: key, action }) => [key, action]);
    const lines = [
      headingLine("Commands"),
      ...columnLines(commands, screen),
      ...(keys.length === 0 ? [] : [headingLine("Keys"), ...columnLines(keys, screen)]),
      line("@file adds a file to a message, !command runs a command of yours.", { dim: true }),
    ];
    await present(context, { title: "Help", lines });
  },
});
