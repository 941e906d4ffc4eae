import { defineTool } from "@cinch/core";
import * as z from "zod";
import { HEAD_BYTES, TAIL_BYTES } from "../../outputs/output.ts";
import type { CommandHost } from "./execute.ts";
import { findCommand, report } from "./report.ts";

const DEFAULT_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
const SHOWN_KB = Math.floor((HEAD_BYTES + TAIL_BYTES) / 1024);

export const commandId = z.string().min(1).max(100).describe("The id that execute returned, such as cmd-12");

/**
 * `pure`, although it advances what counts as shown: each result says which bytes it has, and all of them are in the file, so a result
 * that a crash lost can be read there.
 */
export const executeOutput = ({ background }: CommandHost) =>
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
    async execute({ id, wait_ms = DEFAULT_WAIT_MS }, { threadId, signal }) {
      const command = await findCommand(background, { threadId, id });
      await command.waitForOutput(wait_ms, signal);
      return report(command);
    },
  });
