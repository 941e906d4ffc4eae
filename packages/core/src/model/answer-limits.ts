import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Part } from "../events/message.ts";
import { asText } from "../tools/tool.ts";

export const MAX_CALLS = 128;
/** In characters of the parts of an answer and bytes of its files. */
const MAX_SIZE = 32_000_000;
/** How much text is kept of an answer that is too large. */
const KEPT_CHARS = 100_000;

/** Measures an answer while it streams. */
export class AnswerSize {
  calls = 0;
  #kept = 0;
  #streamed = 0;

  /** Once this is true, the rest of the stream is not read. */
  get isTooLarge(): boolean {
    return this.#kept > MAX_SIZE || this.#streamed > MAX_SIZE;
  }

  get hasTooManyCalls(): boolean {
    return this.calls > MAX_CALLS;
  }

  add(part: LanguageModelV4StreamPart): void {
    // The arguments of a call arrive twice: in deltas for subscribers, and as a whole.
    if (part?.type === "tool-input-delta") this.#streamed += 1 + lengthOf(part.delta);
    else this.#kept += 1 + sizeOf(part);
  }

  /** Tells the model why no call of this answer is run. `undefined`: it is within the limits. */
  get problem(): string | undefined {
    if (this.isTooLarge)
      return `Not accepted: the answer was larger than ${MAX_SIZE / 1_000_000} MB, and none of its calls was run. Answer in smaller parts.`;
    if (this.hasTooManyCalls)
      return `Not run: the answer had ${this.calls} calls, and one answer may have ${MAX_CALLS}. None of them was run. Call again with fewer at a time.`;
    return undefined;
  }
}

/** Every part counts, whatever its type: an endless answer may consist of any. */
function sizeOf(part: LanguageModelV4StreamPart): number {
  switch (part?.type) {
    case "text-delta":
    case "reasoning-delta":
      return lengthOf(part.delta);
    case "tool-call":
      return lengthOf(part.input) + lengthOf(part.toolName) + lengthOf(part.toolCallId);
    case "tool-result":
      return asText(part.result).length;
    case "file":
    case "reasoning-file":
      return part.data?.type === "data" ? part.data.data.length : 0;
    default:
      return asText(part).length;
  }
}

const lengthOf = (text: unknown): number => (typeof text === "string" ? text.length : 0);

/** Keeps the beginning of the text, and the calls without their arguments. */
export function truncate(content: readonly Part[]): Part[] {
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
  const kept = text.slice(0, KEPT_CHARS).toWellFormed();
  const calls = content.flatMap((part): Part[] => {
    return part.type === "tool-call" && !part.providerExecuted ? [{ ...part, input: {} }] : [];
  });
  return [{ type: "text", text: `${kept}\n\n[The rest of this answer was too large, and was left out.]` }, ...calls];
}
