import { defineTool, type Fit } from "@cinch/core";
import * as z from "zod";
import { HEAD_BYTES, TAIL_BYTES } from "../../outputs/output.ts";
import { type CommandHost, isUnprotected, keptByShell } from "./execute.ts";
import { findCommand, findKeeping, report } from "./report.ts";

/* The tools for commands that run in the background. */

const DEFAULT_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
const SHOWN_KB = Math.floor((HEAD_BYTES + TAIL_BYTES) / 1024);

const commandId = z.string().min(1).max(100).describe("The id that execute returned, such as cmd-12");
const MAX_INPUT_CHARS = 64_000;
/** How long the tool waits for the program to read the text. */
const INPUT_WAIT_MS = 2_000;

/** A thread never uses an id twice, so a grant covers only this command. */
const judgedById = {
  matches: (pattern: string, { id }: { id: string }): Fit => (pattern === id || pattern === "*" ? "all" : "none"),
  suggest: ({ id }: { id: string }) => id,
};

/** `pure`, although it advances what counts as shown: a result that a crash lost can be read in the file. */
export const executeOutput = (host: CommandHost) =>
  defineTool({
    description: `See what a command in the background printed since the last look, and whether it still runs or how it ended. Waits up to wait_ms for new output. Of more than ${SHOWN_KB} KB only the end is shown, and which file has all of it.`,
    category: "read",
    effect: "pure",
    input: z.object({
      id: commandId,
      wait_ms: z
        .int()
        .min(0)
        .max(LONGEST_WAIT_MS)
        .describe(`How long to wait if there is no new output. Default: ${DEFAULT_WAIT_MS}.`)
        .optional(),
    }),
    ...keptByShell(host),
    async execute({ id, wait_ms = DEFAULT_WAIT_MS }, context) {
      const command = await findKeeping(host.background, { threadId: context.threadId, id }, context);
      await command.waitForOutput(wait_ms, context.signal);
      return report(command);
    },
  });

/** Needs approval like `execute`, because a program may do anything with its input. */
export const executeInput = (host: CommandHost) =>
  defineTool({
    description: `Write to the standard input of a command that runs in the background. A line ends with "\\n": most programs wait for that. See the answer with execute_output.`,
    category: "execute",
    effect: "once",
    input: z.object({
      id: commandId,
      text: z.string().min(1).max(MAX_INPUT_CHARS).describe("The text to write, unchanged"),
    }),
    ...judgedById,
    policy: () => (isUnprotected(host) ? "ask" : undefined),
    ...keptByShell(host),
    async execute({ id, text }, context) {
      const command = await findKeeping(host.background, { threadId: context.threadId, id }, context);
      if (command.exit) throw new Error(`${id} has ended and reads no input. See how with execute_output.`);
      const outcome = await command.write(text, INPUT_WAIT_MS);
      switch (outcome) {
        case "read":
          return `Written to ${id}: ${text.length} characters. See the answer with execute_output.`;
        case "waiting":
          return `${id} does not read at the moment: ${text.length} characters wait for it. See with execute_output what it does.`;
        case "unread":
          throw new Error(
            `This was not written: ${id} has not read its last input yet. See with execute_output what it does.`,
          );
        case "closed":
          throw new Error(`${id} takes no input: it has closed its standard input, or this shell gives it none.`);
        default:
          return outcome satisfies never;
      }
    },
  });

export const executeStop = (host: CommandHost) =>
  defineTool({
    description: `End a command that runs in the background, and everything that it started: with TERM, and after 500 ms with KILL. Shows what it printed since the last look.`,
    category: "execute",
    effect: "idempotent",
    input: z.object({ id: commandId }),
    ...judgedById,
    ...keptByShell(host),
    async execute({ id }, { threadId }) {
      const command = await findCommand(host.background, { threadId, id });
      await command.running.stop();
      await command.ended;
      return report(command);
    },
  });
