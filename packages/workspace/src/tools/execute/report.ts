import type { Background, BackgroundCommand } from "./background.ts";
import type { CommandOf } from "../../outputs/outputs.ts";
import { howItEnded } from "./exit-line.ts";

/** The command of this id; an error that says what became of it if it does not run here. One of another thread is none. */
export async function known(background: Background, command: CommandOf): Promise<BackgroundCommand> {
  const found = background.find(command);
  if (found) return found;
  const { id } = command;
  const noted = await background.outputs.noted(command);
  if (!noted) throw new Error(`There is no command ${id} of this thread. Start one with execute and background: true.`);
  throw new Error(
    `${id} is not running: it ended, at the latest with the harness that started it, and how is not known any more. What it printed until then, ${noted.bytes} bytes, is in ${noted.path}: call read_file or grep on it. To have it again, start it again.`,
  );
}

/** Whether it runs, and what it printed since the last look. */
export function report(command: BackgroundCommand) {
  const { id, exit, output } = command;
  const { text, from, to } = command.look();
  const state = exit ? howItEnded(exit) : "It is still running.";
  const what =
    from === to
      ? `Nothing new; ${to} bytes so far.`
      : `Bytes ${from}-${to} of ${output.bytes}, new since the last look:`;
  const where = `[The whole output ${output.whereabouts}]`;
  const content = [`${id}: ${state} ${what}`, ...(text === "" ? [] : [text]), where].join("\n");
  return { content, details: { id, exit: exit ?? null, from, to, bytes: output.bytes, output: output.path } };
}
