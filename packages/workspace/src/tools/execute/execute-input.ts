import { defineTool } from "@cinch/core";
import * as z from "zod";
import { type CommandHost, isUnprotected } from "./execute.ts";
import { commandId } from "./execute-output.ts";
import { findCommand } from "./report.ts";

const MAX_CHARS = 64_000;
/** How long the tool waits for the program to read the text. */
const WAIT_MS = 2_000;

/** Needs approval like `execute`, because a program may do anything with its input. */
export const executeInput = (host: CommandHost) =>
  defineTool({
    description: `Write to the standard input of a command that runs in the background. A line ends with "\\n": most programs wait for that. See the answer with execute_output.`,
    category: "execute",
    effect: "once",
    input: z.object({
      id: commandId,
      text: z.string().min(1).max(MAX_CHARS).describe("The text to write, unchanged"),
    }),
    // A thread never uses an id twice, so a grant covers only this command.
    matches: (pattern, { id }) => (pattern === id || pattern === "*" ? "all" : "none"),
    suggest: ({ id }) => id,
    policy: () => (isUnprotected(host) ? "ask" : undefined),
    async execute({ id, text }, { threadId }) {
      const command = await findCommand(host.background, { threadId, id });
      if (command.exit) throw new Error(`${id} has ended and reads no input. See how with execute_output.`);
      const outcome = await command.write(text, WAIT_MS);
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
