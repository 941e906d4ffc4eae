import { textOf, type HarnessMessage } from "@cinch/core";
import { codeBlocks } from "../../text/code-blocks.ts";
import { formatPlural } from "../../views/format.ts";
import { jsonFields } from "../../views/call-argument.ts";
import type { AppCommand, CommandContext } from "./command.ts";

/** What is copied, and how it is called; or why nothing is. */
type Found = { text: string; name: string } | { problem: string };

export const copyCommand: AppCommand = {
  name: "copy",
  description: "copy the last answer, a code block of it, or the last command",
  argument: "[answer|code|command|N]",
  async run(argument, context) {
    const found = await foundFor(argument.trim() || "answer", context);
    if ("problem" in found) return context.say(found.problem);
    const { text, name } = found;
    const copied = await context.copy(text);
    if (!copied.ok) return context.say(`${name} was not copied: ${copied.reason}.`);
    const size = formatPlural(text.split("\n").length, "line");
    const by = copied.how === "terminal" ? "was sent to the clipboard of your terminal" : "is in the clipboard";
    context.say(`${name} ${by}: ${size}.`);
  },
};

async function foundFor(what: string, { session }: CommandContext): Promise<Found> {
  const messages = await session.listMessages({ limit: 200 });
  switch (what) {
    case "answer":
      return answerIn(messages);
    case "code":
      return codeIn(messages, undefined);
    case "command":
      return commandIn(messages);
    default:
      if (/^[1-9]\d{0,5}$/.test(what)) return codeIn(messages, Number(what));
      return {
        problem: `"${what}" can't be copied: /copy, /copy code, /copy command, or /copy 2 for the second code block.`,
      };
  }
}

const saidBy = ({ role, content }: HarnessMessage): string => (role === "assistant" ? textOf(content) : "");

function answerIn(messages: readonly HarnessMessage[]): Found {
  const last = messages.findLast((message) => saidBy(message).trim() !== "");
  return last ? { text: saidBy(last), name: "The last answer" } : { problem: "There is no answer to copy yet." };
}

/** Of the newest answer that has code. `number` counts from 1; without it, the last block. */
function codeIn(messages: readonly HarnessMessage[], number: number | undefined): Found {
  const blocks = messages.map((message) => codeBlocks(saidBy(message))).findLast((found) => found.length > 0);
  if (!blocks) return { problem: "No answer has a code block yet. /copy copies the last answer." };
  const at = number ?? blocks.length;
  const text = blocks[at - 1];
  if (text === undefined)
    return { problem: `The last answer with code has ${formatPlural(blocks.length, "code block")}: /copy 1` };
  return { text, name: `Code block ${at} of ${blocks.length}` };
}

function commandIn(messages: readonly HarnessMessage[]): Found {
  const commands = messages.flatMap(({ content, outcomes }) =>
    content.flatMap((part) => {
      if (part.type !== "tool-call" || part.toolName !== "execute") return [];
      const { command } = jsonFields(outcomes[part.toolCallId]?.args ?? part.input);
      return typeof command === "string" ? [command] : [];
    }),
  );
  const text = commands.at(-1);
  return text === undefined ? { problem: "The agent has run no command yet." } : { text, name: "The last command" };
}
