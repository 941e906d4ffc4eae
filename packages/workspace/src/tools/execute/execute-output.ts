import { defineTool } from "@cinch/core";
import * as z from "zod";
import { HEAD_BYTES, TAIL_BYTES } from "../../outputs/output.ts";
import { known, report } from "./report.ts";
import type { CommandPlace } from "./execute.ts";

const DEFAULT_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
const SHOWN_KB = Math.floor((HEAD_BYTES + TAIL_BYTES) / 1024);

export const commandId = z.string().min(1).max(100).describe("What execute answered, such as cmd-12");

/**
 * Shows what a background command printed. `pure`, although it remembers what was shown: every result says which bytes it has, and all
 * of them are in the file, so that one that is lost with a crash loses nothing.
 */
export const executeOutput = ({ background }: CommandPlace) =>
  defineTool({
    description: `See what a command printed that runs in the background, since the last look, and whether it still runs or how it ended. Waits up to wait_ms for something new. Of more than ${SHOWN_KB} KB only the end is shown, and where all of it is.`,
    category: "read",
    effect: "pure",
    input: z.object({
      id: commandId,
      wait_ms: z
        .int()
        .min(0)
        .max(LONGEST_WAIT_MS)
        .describe(`How long to wait if there is nothing new yet. Default: ${DEFAULT_WAIT_MS}.`)
        .optional(),
    }),
    async execute({ id, wait_ms = DEFAULT_WAIT_MS }, { threadId, signal }) {
      const command = await known(background, { threadId, id });
      await command.news(wait_ms, signal);
      return report(command);
    },
  });
