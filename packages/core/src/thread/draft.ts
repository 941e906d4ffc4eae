import type { Message } from "../events/message.ts";
import type { DraftPiece } from "../ports/store.ts";

/** The pieces of the newest message, put together. */
export function messageOfDraft(pieces: readonly DraftPiece[]): Message | null {
  const id = pieces.at(-1)?.messageId;
  if (id === undefined) return null;
  const content: { type: "text" | "reasoning"; text: string }[] = [];
  for (const { messageId, index, part, text } of pieces) {
    if (messageId !== id) continue;
    const known = content[index];
    if (known) known.text += text;
    else content[index] = { type: part, text };
  }
  return { id, role: "assistant", content: content.filter(Boolean) };
}
