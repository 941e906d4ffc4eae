import * as z from "zod/mini";
import type { Json } from "../../events/message.ts";
import type { AskUserPayload } from "../../events/suspend-payload.ts";
import { asText, defineTool } from "../tool.ts";
import { toolSchema } from "./schema.ts";

const MAX_OPTIONS = 20;

const Option = () => z.object({ label: z.string(), description: z.optional(z.string()) });
const Input = () =>
  z.object({
    question: z.string().check(z.minLength(1)),
    options: z.optional(z.array(Option()).check(z.maxLength(MAX_OPTIONS))),
    multiple: z.optional(z.boolean()),
  });

/** Waits for a person's answer: free text, one of the options, or several. */
export const askUser = ({ maySuspend }: { maySuspend: boolean }) =>
  defineTool({
    description: `Ask the user a question and wait for the answer. Ask only what you can't find out yourself.
Give up to ${MAX_OPTIONS} options where there are clear choices (the user may still answer in their own words), and multiple: true if several can be chosen.`,
    category: "control",
    effect: "pure",
    input: toolSchema(Input),
    execute({ question, options, multiple = false }, { suspend, resumed }) {
      if (!resumed && !maySuspend)
        throw new Error("No person is available to answer. Decide for yourself, and say what you assumed.");
      if (!resumed) return suspend({ question, options: options ?? null, multiple } satisfies AskUserPayload);
      return { content: answerText(resumed.data), details: { answer: resumed.data } };
    },
  });

function answerText(answer: Json): string {
  const given = Array.isArray(answer) ? answer.map(asText).join(", ") : asText(answer ?? "");
  return given.trim() === "" ? "The user gave no answer." : given;
}
