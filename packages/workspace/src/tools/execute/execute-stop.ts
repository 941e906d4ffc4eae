import { defineTool } from "@cinch/core";
import * as z from "zod";
import type { CommandHost } from "./execute.ts";
import { commandId } from "./execute-output.ts";
import { findCommand, report } from "./report.ts";

export const executeStop = ({ background }: CommandHost) =>
  defineTool({
    description: `End a command that runs in the background, and everything that it started: with TERM, and after 500 ms with KILL. Shows what it printed since the last look.`,
    category: "execute",
    effect: "idempotent",
    input: z.object({ id: commandId }),
    matches: (pattern, { id }) => (pattern === id || pattern === "*" ? "all" : "none"),
    suggest: ({ id }) => id,
    async execute({ id }, { threadId }) {
      const command = await findCommand(background, { threadId, id });
      await command.running.stop();
      await command.ended;
      return report(command);
    },
  });
