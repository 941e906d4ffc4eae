import { textOf, type HarnessMessage } from "@cinch/core";
import { codeBlocks } from "../../text/code-blocks.ts";
import { formatPlural } from "../../views/format.ts";
import { jsonFields } from "../../views/call-argument.ts";
import type { AppCommand, CommandContext } from "./command.ts";
import { messagesBackwards } from "./messages-backwards.ts";

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
  const messages = messagesBackwards(session);
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

type NewestFirst = AsyncIterable<HarnessMessage>;

const saidBy = ({ role, content }: HarnessMessage): string => (role === "assistant" ? textOf(content) : "");

async function answerIn(messages: NewestFirst): Promise<Found> {
  for await (const message of messages) {
    const text = saidBy(message);
    if (text.trim() !== "") return { text, name: "The last answer" };
  }
  return { problem: "There is no answer to copy yet." };
}

/** Of the newest answer that has code. `number` counts from 1; without it, the last block. */
async function codeIn(messages: NewestFirst, number: number | undefined): Promise<Found> {
  for await (const message of messages) {
    const blocks = codeBlocks(saidBy(message));
    if (blocks.length > 0) return blockOf(blocks, number ?? blocks.length);
  }
  return { problem: "No answer has a code block yet. /copy copies the last answer." };
}

function blockOf(blocks: readonly string[], at: number): Found {
  const text = blocks[at - 1];
  if (text === undefined)
    return { problem: `The last answer with code has ${formatPlural(blocks.length, "code block")}: /copy 1` };
  return { text, name: `Code block ${at} of ${blocks.length}` };
}

async function commandIn(messages: NewestFirst): Promise<Found> {
  for await (const message of messages) {
    const text = commandsOf(message).at(-1);
    if (text !== undefined) return { text, name: "The last command" };
  }
  return { problem: "The agent has run no command yet." };
}

const commandsOf = ({ content, outcomes }: HarnessMessage): string[] =>
  content.flatMap((part) => {
    if (part.type !== "tool-call" || part.toolName !== "execute") return [];
    const { command } = jsonFields(outcomes[part.toolCallId]?.args ?? part.input);
    return typeof command === "string" ? [command] : [];
  });
