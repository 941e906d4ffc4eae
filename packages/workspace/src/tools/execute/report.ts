import { CinchError, type ToolContext } from "@cinch/core";
import type { CommandKey } from "../../outputs/outputs.ts";
import type { CommandExit } from "../../shells/shell.ts";
import type { Background } from "./background.ts";
import type { BackgroundCommand } from "./background-command.ts";

/** Throws if the thread has no such command in this process; the error says what is known of it. */
export async function findCommand(background: Background, key: CommandKey): Promise<BackgroundCommand> {
  const found = background.find(key);
  if (found) return found;
  const { id } = key;
  const noted = await background.outputs.noted(key);
  if (!noted) throw new Error(`There is no command ${id} of this thread. Start one with execute and background: true.`);
  throw new Error(
    `${id} is not running in this process: it ended, or another process that has this thread open started it and still runs it; its exit code is not known. What it has printed, ${noted.bytes} bytes, is in ${noted.path}: call read_file or grep on it. If you still need the command, see whether it really ended before you start it again.`,
  );
}

/** Like `findCommand`. Throws if the command does not keep the path rules of the call. */
export async function findKeeping(
  background: Background,
  key: CommandKey,
  { pathRules }: ToolContext,
): Promise<BackgroundCommand> {
  const command = await findCommand(background, key);
  if (command.keeps(pathRules)) return command;
  throw new CinchError(
    "PERMISSION_DENIED",
    `${key.id} was started without the path rules that this agent has. End it with execute_stop, and start it again.`,
  );
}

/** Whether the command runs, and what it printed since the last report. */
export function report(command: BackgroundCommand) {
  const { id, exit, output } = command;
  const { text, from, to } = command.look();
  const state = exit ? exitLine(exit) : "It is still running.";
  const what =
    from === to
      ? `Nothing new; ${to} bytes so far.`
      : `Bytes ${from}-${to} of ${output.bytes}, new since the last look:`;
  const where = `[The whole output ${output.location}]`;
  const content = [`${id}: ${state} ${what}`, ...(text === "" ? [] : [text]), where].join("\n");
  return { content, details: { id, exit: exit ?? null, from, to, bytes: output.bytes, output: output.path } };
}

/** How a command ended, in one line. */
export function exitLine({ code, signal, timedOut, durationMs, leftBehind }: CommandExit): string {
  const after = `after ${(durationMs / 1000).toFixed(1)} s`;
  const left = leftBehind ? " Processes that it left running were ended." : "";
  if (timedOut) return `Ended by the time limit, ${after}. Give a longer timeout_ms if it needs more.${left}`;
  if (signal) return `Ended by ${signal} ${after}.${left}`;
  return `Exit code ${code} ${after}.${left}`;
}
