import { setTimeout as sleep } from "node:timers/promises";
import { defineTool } from "@cinch/core";
import * as z from "zod";

/** A number must be counted only once, so a call that a crash interrupted is not repeated. */
export const counter = defineTool({
  description: "Counts one number. Call it once for each number, one after the other.",
  effect: "once",
  input: z.object({
    number: z.int(),
    seconds: z.number().min(0).max(10).optional().describe("How long to take."),
  }),
  async execute({ number, seconds = 0 }, { signal }) {
    if (seconds > 0) await sleep(seconds * 1_000, undefined, { signal });
    return `Counted ${number}.`;
  },
});
