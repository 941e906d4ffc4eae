import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import { CinchError } from "../errors.ts";
import { blobsOf, type FilePart, type Part } from "../events/message.ts";
import type { CallResult, TranscriptEntry } from "../folds/transcript.ts";

export type LoadBlob = (hash: string) => Promise<Uint8Array | undefined>;
export type BodyMessage = Exclude<LanguageModelV4Message, { role: "system" }>;

/** Entries never change, so each is converted once for the provider that generated it, and once for the others. */
const convertedOwn = new WeakMap<TranscriptEntry, BodyMessage>();
const convertedForeign = new WeakMap<TranscriptEntry, BodyMessage>();

/** `by`: the provider that gets the message. */
export async function entryMessage(entry: TranscriptEntry, by: string, loadBlob: LoadBlob): Promise<BodyMessage> {
  const isForeign = entry.kind === "assistant" && entry.by !== by;
  const cache = isForeign ? convertedForeign : convertedOwn;
  const known = cache.get(entry);
  if (known) return known;
  const message = convert(entry, await bytesFor(entry, loadBlob), { isForeign });
  cache.set(entry, message);
  return message;
}

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
function convert(entry: TranscriptEntry, bytes: Bytes, { isForeign }: { isForeign: boolean }): BodyMessage {
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
