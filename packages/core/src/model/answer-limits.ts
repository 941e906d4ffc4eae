import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Part, ToolCallPart, Usage } from "../events/message.ts";
import { noUsage } from "../events/usage.ts";
import { tokensOfContent } from "../folds/tokens.ts";
import { asText } from "../tools/tool.ts";

export const MAX_CALLS = 128;
/** Each delta copies the list of parts, here and in the display. */
const MAX_PARTS = 4_000;
/** In characters of the parts of an answer and bytes of its files. */
const MAX_SIZE = 32_000_000;
/** How much text is kept of an answer that is too large. */
const KEPT_CHARS = 100_000;
/** How long the metadata of one of its calls may be. */
const KEPT_METADATA_CHARS = 10_000;
const CHARS_PER_TOKEN = 4;

/** Measures an answer while it streams. */
export class AnswerSize {
  calls = 0;
  /** How many parts the answer has. Deltas are pieces of one. */
  parts = 0;
  #chars = 0;
  #fileBytes = 0;
  #argumentChars = 0;
  #blockId: unknown;

  /** Once this is true, the rest of the stream is not read. */
  get isTooLarge(): boolean {
    return this.#chars + this.#fileBytes > MAX_SIZE || this.#argumentChars > MAX_SIZE || this.hasTooManyParts;
  }

  get hasTooManyParts(): boolean {
    return this.parts > MAX_PARTS;
  }

  get hasTooManyCalls(): boolean {
    return this.calls > MAX_CALLS;
  }

  /**
   * Counts all that the part has, whatever its type, and so all that is kept of it. The content of a file counts in bytes. Parts that are
   * not kept count too: an endless answer may consist of any.
   */
  add(part: LanguageModelV4StreamPart): void {
    // The arguments of a call arrive twice: in deltas for subscribers, and as a whole.
    if (part?.type === "tool-input-delta") this.#argumentChars += 1 + (this.#deltaLength(part) ?? charsOf(part));
    else if (part?.type === "text-delta" || part?.type === "reasoning-delta")
      this.#chars += 1 + (this.#deltaLength(part) ?? charsOf(part));
    else {
      const file = fileContentOf(part);
      this.#fileBytes += file?.length ?? 0;
      this.#chars += 1 + charsOf(file ? { ...part, data: null } : part);
    }
  }

  /** Of a delta that only continues its block: long answers consist of these. `undefined`: it has something else that may be kept. */
  #deltaLength({ id, delta, providerMetadata }: Delta): number | undefined {
    if (id === this.#blockId && providerMetadata === undefined && typeof delta === "string") return delta.length;
    this.#blockId = id;
    return undefined;
  }

  /** What an answer used that is too large: the provider has no occasion to report it. `content`: what was read of it. */
  estimatedUsage(content: readonly Part[]): Usage {
    const files = tokensOfContent(content.filter(({ type }) => type === "file"));
    const chars = Math.max(this.#chars, this.#argumentChars);
    return { ...noUsage, outputTokens: files + Math.ceil(chars / CHARS_PER_TOKEN) };
  }

  /** Tells the model why no call of this answer is run. `undefined`: it is within the limits. */
  get problem(): string | undefined {
    if (this.hasTooManyParts)
      return `Not accepted: the answer had more than ${MAX_PARTS} parts, and none of its calls was run. Answer in fewer parts.`;
    if (this.isTooLarge)
      return `Not accepted: the answer was larger than ${MAX_SIZE / 1_000_000} MB, and none of its calls was run. Answer in smaller parts.`;
    if (this.hasTooManyCalls)
      return `Not run: the answer had ${this.calls} calls, and one answer may have ${MAX_CALLS}. None of them was run. Call again with fewer at a time.`;
    return undefined;
  }
}

type Delta = LanguageModelV4StreamPart & { type: "text-delta" | "reasoning-delta" | "tool-input-delta" };

/** The characters of all fields: a text as it is, anything else as JSON, which is how it is kept. */
function charsOf(part: object | undefined): number {
  if (typeof part !== "object" || part === null) return asText(part).length;
  return Object.entries(part).reduce((sum, [key, value]) => sum + key.length + asText(value).length, 0);
}

/** As JSON, bytes would take several times as much. */
function fileContentOf(part: LanguageModelV4StreamPart): string | Uint8Array | undefined {
  const content = (part as { data?: { data?: unknown } } | undefined)?.data?.data;
  return typeof content === "string" || content instanceof Uint8Array ? content : undefined;
}

/** Keeps the beginning of the text, and the calls without their arguments. */
export function truncate(content: readonly Part[]): Part[] {
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
  const kept = text.slice(0, KEPT_CHARS).toWellFormed();
  const calls = content.flatMap((part) =>
    part.type === "tool-call" && !part.providerExecuted ? [bareCall(part)] : [],
  );
  return [{ type: "text", text: `${kept}\n\n[The rest of this answer was too large, and was left out.]` }, ...calls];
}

/** Some providers refuse a call without the signature that came with it. */
function bareCall({ providerMetadata, ...call }: ToolCallPart): Part {
  const isShort = providerMetadata && asText(providerMetadata).length <= KEPT_METADATA_CHARS;
  return { ...call, input: {}, ...(isShort ? { providerMetadata } : {}) };
}
