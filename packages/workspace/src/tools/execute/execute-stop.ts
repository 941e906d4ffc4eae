import { defineTool } from "@cinch/core";
import * as z from "zod";
import { known, report } from "./report.ts";
import type { CommandPlace } from "./execute.ts";
import { commandId } from "./execute-output.ts";

/** Ends a background command with everything that it started. */
export const executeStop = ({ background }: CommandPlace) =>
  defineTool({
    description: `End a command that runs in the background, and everything that it started: it is asked to end (TERM), and made to after 500 ms (KILL). Shows what it printed since the last look.`,
    category: "execute",
    effect: "idempotent",
    input: z.object({ id: commandId }),
    matches: (pattern, { id }) => (pattern === id || pattern === "*" ? "all" : "none"),
    suggest: ({ id }) => id,
    async execute({ id }, { threadId }) {
      const command = await known(background, { threadId, id });
      await command.running.stop();
      await command.ended;
      return report(command);
    },
  });
