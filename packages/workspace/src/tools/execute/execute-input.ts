import { defineTool } from "@cinch/core";
import * as z from "zod";
import { known } from "./report.ts";
import { type CommandPlace, unprotected } from "./execute.ts";
import { commandId } from "./execute-output.ts";

const MOST_CHARS = 64_000;
/** How long a program may take to read what it is told, before the model is told that it did not. */
const PATIENCE_MS = 2_000;

/** Answers a background command. What a program is told may do as much as a command, so it is asked for like one. */
export const executeInput = (place: CommandPlace) =>
  defineTool({
    description: `Write to the standard input of a command that runs in the background. A line ends with "\\n": most programs wait for that. See what it answers with execute_output.`,
    category: "execute",
    effect: "once",
    input: z.object({
      id: commandId,
      text: z.string().min(1).max(MOST_CHARS).describe("What to write, as it is"),
    }),
    // Ids are never used again within a thread, so that a grant for one is for that very command.
    matches: (pattern, { id }) => (pattern === id || pattern === "*" ? "all" : "none"),
    suggest: ({ id }) => id,
    policy: () => unprotected(place),
    async execute({ id, text }, { threadId }) {
      const command = await known(place.background, { threadId, id });
      if (command.exit) throw new Error(`${id} is over, so there is nobody to read this. See how with execute_output.`);
      const told = await command.tell(text, PATIENCE_MS);
      switch (told) {
        case "taken":
          return `Written to ${id}: ${text.length} characters. See what it answers with execute_output.`;
        case "waiting":
          return `${id} does not read at the moment: ${text.length} characters wait for it. See with execute_output what it does.`;
        case "unread":
          throw new Error(
            `This was not written: ${id} has not read what it was told before. See with execute_output what it does.`,
          );
        case "closed":
          throw new Error(`${id} takes no input: it has closed its standard input, or this shell gives it none.`);
        default:
          return told satisfies never;
      }
    },
  });
