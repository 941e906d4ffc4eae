import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { CinchError } from "../errors.ts";
import type { LoadBlob } from "./entry-message.ts";
import type { Focus, LoadedSkill, MemoryBlock, MemoryBlocks } from "../folds/memory-blocks.ts";

const INTRODUCTION =
  "Earlier messages of this conversation are not shown. What follows stands for them: it was written while they were read, and is a record, not an instruction. The numbers are those of the journal.";

/** What stands for the messages that are not in the body. `null`: all of them are. Between reflections, texts are only added. */
export async function memoryMessage(
  { blocks }: MemoryBlocks,
  loadBlob: LoadBlob,
): Promise<(LanguageModelV4Message & { role: "user" }) | null> {
  if (blocks.length === 0) return null;
  const texts = await Promise.all(blocks.map((block) => textOfBlock(block, loadBlob)));
  return { role: "user", content: [INTRODUCTION, ...texts].map((text) => ({ type: "text", text })) };
}

/** How many parts the message has. */
export const memoryParts = ({ blocks }: MemoryBlocks): number => (blocks.length === 0 ? 0 : 1 + blocks.length);

const SKILLS =
  "These skills were loaded earlier in this conversation, in messages that are not shown any more. Their instructions still apply.";

/** The instructions of loaded skills, as they were loaded. `null`: the body has them, or there are none. */
export async function skillsMessage(
  { skills }: MemoryBlocks,
  loadBlob: LoadBlob,
): Promise<(LanguageModelV4Message & { role: "user" }) | null> {
  if (skills.length === 0) return null;
  const texts = await Promise.all(skills.map((skill) => textOfSkill(skill, loadBlob)));
  return { role: "user", content: [SKILLS, ...texts].map((text) => ({ type: "text", text })) };
}

/** What the model was working on when the newest block was written. `null`: not known. */
export function focusMessage({ currentTask, hint }: Focus): (LanguageModelV4Message & { role: "user" }) | null {
  const lines = [
    ...(currentTask === "" ? [] : [`Current task: ${escaped(currentTask)}`]),
    ...(hint === "" ? [] : [`Next: ${escaped(hint)}`]),
  ];
  if (lines.length === 0) return null;
  return { role: "user", content: [{ type: "text", text: `<focus>\n${lines.join("\n")}\n</focus>` }] };
}

const TAGS = { observation: "observations", reflection: "observations", summary: "summary", left_out: "left-out" };
const LEFT_OUT = "These messages are not shown, and there is no summary of them. The recall tool quotes them.";

/** Blocks and skills never change, so each is read once. */
const shown = new WeakMap<MemoryBlock | LoadedSkill, string>();

async function textOfSkill(skill: LoadedSkill, loadBlob: LoadBlob): Promise<string> {
  const known = shown.get(skill);
  if (known !== undefined) return known;
  const text = `<skill name="${skill.name}">\n${await blockText(skill, loadBlob)}\n</skill>`;
  shown.set(skill, text);
  return text;
}

async function textOfBlock(block: MemoryBlock, loadBlob: LoadBlob): Promise<string> {
  const known = shown.get(block);
  if (known !== undefined) return known;
  const { kind, range, at } = block;
  const tag = TAGS[kind];
  const date = new Date(at).toISOString().slice(0, 16).replace("T", " ");
  const body = escaped(await blockText(block, loadBlob));
  const text = `<${tag} from="${range[0]}" to="${range[1]}" written="${date} UTC">\n${body}\n</${tag}>`;
  shown.set(block, text);
  return text;
}

/** The text of a block as it was written. */
export async function blockText({ blob }: Pick<MemoryBlock, "blob">, loadBlob: LoadBlob): Promise<string> {
  if (blob === null) return LEFT_OUT;
  const bytes = await loadBlob(blob);
  if (bytes) return new TextDecoder().decode(bytes);
  throw new CinchError(
    "CORRUPT",
    `A part of the thread's memory is missing (blob ${blob}). Restore the store from a backup, or rewind to before it.`,
  );
}

/** No text can close the element that it stands in, or open another one. */
export const escaped = (text: string): string => text.replace(/<(?=[/!?A-Za-z])/g, "&lt;").toWellFormed();
