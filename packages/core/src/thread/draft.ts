import { MessageUpdate, type NewLive } from "../events/live-events.ts";
import type { HarnessEvent } from "../events/event-map.ts";
import type { Message } from "../events/message.ts";
import type { Clock } from "../ports/clock.ts";
import type { DraftPiece, Store } from "../ports/store.ts";

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

/** Where the view emits its events. */
interface Target {
  readonly id: string;
  readonly ports: { store: Pick<Store, "draft">; clock: Clock };
  live(event: NewLive): void;
  emit(event: HarnessEvent): void;
}

/** Shows what another process streams, from the draft that it saves. */
export class DraftView {
  #shown: Message = { id: "", role: "assistant", content: [] };

  async show(target: Target, turnId: string): Promise<void> {
    const { store, clock } = target.ports;
    // Without the draft nothing is lost: the text comes with the message itself.
    const message = messageOfDraft(await store.draft(target.id).catch(() => []));
    if (!message) return;
    const at = clock.now();
    const { id: messageId, content } = message;
    if (this.#shown.id !== messageId) {
      this.#shown = { ...message, content: [] };
      target.live({ type: "message_start", messageId, role: "assistant" });
    }
    for (const [index, part] of content.entries()) {
      if (part.type !== "text" && part.type !== "reasoning") continue;
      const before = this.#shown.content[index];
      const delta = part.text.slice(before && "text" in before ? before.text.length : 0);
      if (delta === "") continue;
      this.#shown = { ...this.#shown, content: content.slice(0, index + 1) };
      const where = { threadId: target.id, turnId, messageId, at };
      target.emit(new MessageUpdate(where, { index, part: part.type, delta, content: this.#shown.content }));
    }
    this.#shown = message;
  }
}
