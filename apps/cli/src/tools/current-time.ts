import { defineTool } from "@cinch/core";
import * as z from "zod";

export const currentTime = defineTool({
  description: "The current date and time, with the time zone.",
  category: "read",
  input: z.object({
    timezone: z
      .string()
      .optional()
      .describe('An IANA name like "Europe/Paris". Default: the time zone of this machine.'),
  }),
  execute({ timezone }) {
    const now = new Date();
    const options = { dateStyle: "full", timeStyle: "long", ...(timezone ? { timeZone: timezone } : {}) } as const;
    return { content: new Intl.DateTimeFormat("en-GB", options).format(now), details: { iso: now.toISOString() } };
  },
});
