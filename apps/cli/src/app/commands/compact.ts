import { formatCount } from "../../views/format.ts";
import type { AppCommand } from "./command.ts";

export const compactCommand: AppCommand = {
  name: "compact",
  description: "shorten the prompt now",
  argument: "[WHAT TO KEEP]",
  async run(argument, context) {
    const { session } = context;
    if (session.getCurrentModelId() === "offline")
      return context.say("The offline model has no memory, so there is nothing to compact. /model changes the model.");
    const instructions = argument.trim();
    context.say(context.display().turnId === null ? "Compacting …" : "The prompt is compacted after this step …");
    const { range, tokensBefore, tokensAfter } = await session.compact(instructions === "" ? {} : { instructions });
    if (range === null) return context.say("There is nothing to leave out of the prompt yet.");
    context.say(
      `The prompt has shrunk from ${formatCount(tokensBefore)} to ${formatCount(tokensAfter)} tokens. No message is lost.`,
    );
  },
};
