import type { LanguageModelV4FunctionTool, LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { tokensOfJson, tokensOfText } from "../folds/tokens.ts";
import { settledTranscript, type Transcript } from "../folds/transcript.ts";
import { bodyMessages } from "./body-messages.ts";
import { entryMessage, type LoadBlob } from "./entry-message.ts";
import { focusMessage, memoryMessage, skillsMessage } from "./memory-message.ts";

/** The beginning of the prompt. It stays the same, byte by byte, until agent, model, instructions or tools change. */
export interface Head {
  system: string;
  tools: LanguageModelV4FunctionTool[];
  /** The texts of a profile that are a part of `system`. Left out: there are none. */
  profile?: ProfileTexts;
}

/** What a profile puts before the instructions and after them. */
export interface ProfileTexts {
  base: string;
  suffix: string;
}

export const tokensOfHead = ({ system, tools }: Head): number => tokensOfText(system) + tokensOfJson(tools);

const CONTINUE: LanguageModelV4Message = { role: "user", content: [{ type: "text", text: "Continue." }] };

/** Head, body, tail. Valid for every provider, whatever prefix of a journal the transcript was folded from. */
export async function toPrompt(head: Head, transcript: Transcript, loadBlob: LoadBlob): Promise<LanguageModelV4Prompt> {
  const { memory, by } = transcript;
  const { kept, body } = settledTranscript(transcript);
  const prompt: LanguageModelV4Prompt = head.system === "" ? [] : [{ role: "system", content: head.system }];
  const before = await memoryMessage(memory, loadBlob);
  if (before) prompt.push(before);
  const skills = await skillsMessage(memory, loadBlob);
  if (skills) addMessage(prompt, skills);
  for (const { entry } of kept) addMessage(prompt, await entryMessage(entry, by, loadBlob));
  for (const message of await bodyMessages(body, by, loadBlob)) addMessage(prompt, message);
  const focus = focusMessage(memory.focus);
  if (focus) addMessage(prompt, focus);
  if (!awaitsAnswer(prompt)) prompt.push(CONTINUE);
  return prompt;
}

/** Some providers require that roles alternate: user messages in a row are merged, and an answer follows a message. */
function addMessage(prompt: LanguageModelV4Prompt, message: LanguageModelV4Message): void {
  const last = prompt.at(-1);
  if (message.role === "assistant" && !awaitsAnswer(prompt)) prompt.push(CONTINUE, message);
  else if (message.role === "user" && last?.role === "user") {
    prompt[prompt.length - 1] = { role: "user", content: [...last.content, ...message.content] };
  } else prompt.push(message);
}

function awaitsAnswer(prompt: LanguageModelV4Prompt): boolean {
  const role = prompt.at(-1)?.role;
  return role === "user" || role === "tool";
}
