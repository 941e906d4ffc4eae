import * as z from "zod/mini";

/** Longer texts of results and of the user, about 20,000 tokens, are offloaded: the model gets the beginning, the end, and a path. */
export const OFFLOADED_FROM_CHARS = 80_000;

/** The path of a workspace below which offloaded texts can be read. */
export const CONTEXT_PATH = "/.cinch/context";

/**
 * The text of a tool result, or of a user's message, was too long for the prompt. The blob has the whole text. The `tool_end` or
 * `message_end` in the same append has its beginning and end, and names the path.
 */
export const offloadedFields = () => ({
  toolCallId: z.optional(z.string()),
  toolName: z.optional(z.string()),
  messageId: z.optional(z.string()),
  path: z.string(),
  blob: z.string(),
  /** The length of the text before it was offloaded. Of a very long one, the blob lacks the middle. */
  chars: z.number(),
  /** The size of the blob. */
  bytes: z.number(),
});
