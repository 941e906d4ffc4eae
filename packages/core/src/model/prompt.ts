import type {
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import { CinchError } from "../errors.ts";
import { entriesOf, type CallResult, type TranscriptEntry, type Transcript } from "../folds/transcript.ts";
import { tokensOfJson, tokensOfText } from "../folds/tokens.ts";
import { focusMessage, memoryMessage } from "./memory-message.ts";
import { blobsOf, type FilePart, type Part } from "../events/message.ts";

/** The beginning of the prompt. It stays the same, byte by byte, until agent, model, instructions or tools change. */
export interface Head {
  system: string;
  tools: LanguageModelV4FunctionTool[];
}

export const tokensOfHead = ({ system, tools }: Head): number => tokensOfText(system) + tokensOfJson(tools);

type LoadBlob = (hash: string) => Promise<Uint8Array | undefined>;

const CONTINUE: LanguageModelV4Message = { role: "user", content: [{ type: "text", text: "Continue." }] };

/** Head, body, tail. Valid for every provider, whatever prefix of a journal the transcript was folded from. */
export async function toPrompt(head: Head, transcript: Transcript, loadBlob: LoadBlob): Promise<LanguageModelV4Prompt> {
  const prompt: LanguageModelV4Prompt = head.system === "" ? [] : [{ role: "system", content: head.system }];
  const memory = await memoryMessage(transcript.memory, loadBlob);
  if (memory) prompt.push(memory);
  const withUniqueIds = callIdRenamer();
  for (const entry of entriesOf(transcript)) {
    const isForeign = entry.kind === "assistant" && entry.by !== transcript.by;
    const cache = isForeign ? convertedForeign : convertedOwn;
    const message = cache.get(entry) ?? convert(entry, await bytesFor(entry, loadBlob), { isForeign });
    cache.set(entry, message);
    if (message.content.length > 0) addMessage(prompt, withUniqueIds(message));
  }
  const focus = focusMessage(transcript.memory.focus);
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

/** Entries never change, so each is converted once for the provider that generated it, and once for the others. */
const convertedOwn = new WeakMap<TranscriptEntry, LanguageModelV4Message>();
const convertedForeign = new WeakMap<TranscriptEntry, LanguageModelV4Message>();

/** Call ids are unique within one answer only. Providers require unique ids in a whole request. */
function callIdRenamer(): (message: LanguageModelV4Message) => LanguageModelV4Message {
  const used = new UsedIds();
  let names = new Map<string, string>();
  return (message) => {
    if (message.role === "assistant") names = newNames(message.content, used);
    if (names.size === 0 || message.role === "user" || message.role === "system") return message;
    const content = message.content.map((part) =>
      "toolCallId" in part ? { ...part, toolCallId: names.get(part.toolCallId) ?? part.toolCallId } : part,
    );
    return { ...message, content } as LanguageModelV4Message;
  };
}

class UsedIds {
  readonly #used = new Set<string>();
  /** By id, the suffix to try next: without it, a model that always uses "call_0" would cost quadratic time. */
  readonly #next = new Map<string, number>();

  unique(id: string): string {
    let name = id;
    let n = this.#next.get(id) ?? 2;
    for (; this.#used.has(name); n++) name = `${id.slice(0, 56)}_${n}`;
    this.#next.set(id, n);
    this.#used.add(name);
    return name;
  }
}

/** By call id, the id in the prompt where it differs. */
function newNames(parts: readonly AssistantPart[], used: UsedIds): Map<string, string> {
  const names = new Map<string, string>();
  for (const part of parts) {
    if (!isOwnCall(part)) continue;
    const { toolCallId: id } = part;
    const name = used.unique(id);
    if (name !== id) names.set(id, name);
  }
  return names;
}

const isOwnCall = (part: AssistantPart): part is Extract<AssistantPart, { type: "tool-call" }> =>
  part.type === "tool-call" && !part.providerExecuted;

type Bytes = ReadonlyMap<string, Uint8Array>;

async function bytesFor(entry: TranscriptEntry, loadBlob: LoadBlob): Promise<Bytes> {
  const contents = entry.kind === "results" ? entry.results.map(({ result }) => result.content) : [entry.parts];
  const bytes = new Map<string, Uint8Array>();
  for (const hash of contents.flatMap(blobsOf)) {
    const found = await loadBlob(hash);
    if (found) bytes.set(hash, found);
    else
      throw new CinchError(
        "CORRUPT",
        `The bytes of a file are missing (blob ${hash}). Restore the store from a backup, or rewind to before that file.`,
      );
  }
  return bytes;
}

/** `isForeign`: the answer of another model. */
function convert(
  entry: TranscriptEntry,
  bytes: Bytes,
  { isForeign }: { isForeign: boolean },
): Exclude<LanguageModelV4Message, { role: "system" }> {
  switch (entry.kind) {
    case "user":
    case "note":
      return { role: "user", content: entry.parts.flatMap((part) => plainPart(part, bytes)) };
    case "assistant": {
      const content = entry.parts.flatMap((part) => (isForeign ? foreignPart(part) : assistantPart(part, bytes)));
      return { role: "assistant", content };
    }
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

/** Leaves out signatures, reasoning and tools that the provider ran itself: other providers can't use them, and some refuse them. */
function foreignPart(part: Part): AssistantPart[] {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text }];
    case "tool-call": {
      const { toolCallId, toolName, input, providerExecuted } = part;
      return providerExecuted ? [] : [{ type: "tool-call", toolCallId, toolName, input }];
    }
    case "file":
      return part.reasoning ? [] : [{ type: "text", text: `(a file of type ${part.mediaType} was here)` }];
    default:
      return [];
  }
}

function resultPart(
  { toolCallId, toolName, result, isError }: CallResult,
  bytes: Bytes,
): LanguageModelV4ToolResultPart {
  const part = { type: "tool-result" as const, toolCallId, toolName };
  const { content } = result;
  const texts =
    typeof content === "string" ? [content] : content.flatMap((item) => (item.type === "text" ? item.text : []));
  const text = texts.filter((one) => one.trim() !== "").join("\n");
  const files = typeof content === "string" ? [] : content.flatMap((item) => (item.type === "file" ? item : []));
  if (files.length === 0)
    return { ...part, output: { type: isError ? "error-text" : "text", value: text || "(no output)" } };
  // One text, before the files: some wire formats turn every text into a result of its own, and no file into one.
  const textPart: LanguageModelV4TextPart = { type: "text", text: text || "(see the file)" };
  return { ...part, output: { type: "content", value: [textPart, ...files.map((file) => filePart(file, bytes))] } };
}

function filePart({ mediaType, filename, blob, url }: FilePart, bytes: Bytes): LanguageModelV4FilePart {
  const file = { type: "file" as const, mediaType, ...(filename === undefined ? {} : { filename }) };
  const data = blob === undefined ? undefined : bytes.get(blob);
  if (data) return { ...file, data: { type: "data", data } };
  return { ...file, data: { type: "url", url: new URL(url !== undefined && URL.canParse(url) ? url : "about:blank") } };
}
