import type {
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import { CinchError } from "../errors.ts";
import { entriesOf, type CallResult, type Entry, type Transcript } from "../folds/transcript.ts";
import { blobsOf, type FilePart, type Part } from "../message.ts";

/** The part of the prompt that stays the same, byte by byte, until it is changed on purpose. */
export interface Head {
  system: string;
  tools: LanguageModelV4FunctionTool[];
}

export type LoadBlob = (hash: string) => Promise<Uint8Array | undefined>;

const CONTINUE: LanguageModelV4Message = { role: "user", content: [{ type: "text", text: "Continue." }] };

/** Head, body, tail. Valid for every provider, whatever prefix of a journal the transcript was folded from. */
export async function toPrompt(head: Head, transcript: Transcript, loadBlob: LoadBlob): Promise<LanguageModelV4Prompt> {
  const prompt: LanguageModelV4Prompt = head.system === "" ? [] : [{ role: "system", content: head.system }];
  for (const entry of entriesOf(transcript)) {
    const message = converted.get(entry) ?? convert(entry, await bytesFor(entry, loadBlob));
    converted.set(entry, message);
    const last = prompt.at(-1);
    // Two messages of a user in a row are one: some providers insist on turns.
    if (message.role === "user" && last?.role === "user") {
      prompt[prompt.length - 1] = { role: "user", content: [...last.content, ...message.content] };
    } else prompt.push(message);
  }
  const last = prompt.at(-1);
  if (last?.role !== "user" && last?.role !== "tool") prompt.push(CONTINUE);
  return prompt;
}

/** Entries never change, so each is converted once. */
const converted = new WeakMap<Entry, LanguageModelV4Message>();

type Bytes = ReadonlyMap<string, Uint8Array>;

async function bytesFor(entry: Entry, loadBlob: LoadBlob): Promise<Bytes> {
  const contents = entry.kind === "results" ? entry.results.map(({ result }) => result.content) : [entry.parts];
  const bytes = new Map<string, Uint8Array>();
  for (const hash of contents.flatMap(blobsOf)) {
    const found = await loadBlob(hash);
    if (found) bytes.set(hash, found);
    else
      throw new CinchError(
        "CORRUPT",
        `The bytes of a file are missing (${hash}). Restore the store from a backup, or rewind to before that file.`,
      );
  }
  return bytes;
}

function convert(entry: Entry, bytes: Bytes): LanguageModelV4Message {
  switch (entry.kind) {
    case "user":
      return { role: "user", content: entry.parts.flatMap((part) => plainPart(part, bytes)) };
    case "assistant":
      return { role: "assistant", content: entry.parts.flatMap((part) => assistantPart(part, bytes)) };
    case "results":
      return { role: "tool", content: entry.results.map((result) => resultPart(result, bytes)) };
  }
}

function plainPart(part: Part, bytes: Bytes): (LanguageModelV4TextPart | LanguageModelV4FilePart)[] {
  if (part.type === "text") return [{ type: "text", text: part.text }];
  return part.type === "file" ? [filePart(part, bytes)] : [];
}

type AssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number];

function assistantPart(part: Part, bytes: Bytes): AssistantPart[] {
  const options = part.providerMetadata ? { providerOptions: part.providerMetadata as never } : {};
  switch (part.type) {
    case "text":
    case "reasoning":
      return [{ type: part.type, text: part.text, ...options }];
    case "tool-call": {
      const { toolCallId, toolName, input, providerExecuted } = part;
      return [
        {
          type: "tool-call",
          toolCallId,
          toolName,
          input,
          ...(providerExecuted ? { providerExecuted } : {}),
          ...options,
        },
      ];
    }
    case "tool-result": {
      const { toolCallId, toolName, result, isError } = part;
      const output = { type: isError ? ("error-json" as const) : ("json" as const), value: result };
      return [{ type: "tool-result", toolCallId, toolName, output, ...options }];
    }
    case "file": {
      const file = filePart(part, bytes);
      return [{ ...file, ...(part.reasoning ? { type: "reasoning-file" } : {}), ...options } as AssistantPart];
    }
    case "custom":
      return [{ type: "custom", kind: part.kind as `${string}.${string}`, ...options }];
    case "source":
      return [];
  }
}

function resultPart(
  { toolCallId, toolName, result, isError }: CallResult,
  bytes: Bytes,
): LanguageModelV4ToolResultPart {
  const part = { type: "tool-result" as const, toolCallId, toolName };
  const { content } = result;
  if (typeof content === "string")
    return { ...part, output: { type: isError ? "error-text" : "text", value: content } };
  return { ...part, output: { type: "content", value: content.flatMap((item) => plainPart(item, bytes)) } };
}

function filePart({ mediaType, filename, blob, url }: FilePart, bytes: Bytes): LanguageModelV4FilePart {
  const file = { type: "file" as const, mediaType, ...(filename === undefined ? {} : { filename }) };
  const data = blob === undefined ? undefined : bytes.get(blob);
  if (data) return { ...file, data: { type: "data", data } };
  return { ...file, data: { type: "url", url: new URL(url ?? "about:blank") } };
}
