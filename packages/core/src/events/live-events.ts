import type { LiveEvent, LiveType } from "./event-map.ts";
import type { HarnessDisplayState } from "../folds/display-state.ts";
import type { Message, Part, Role } from "./message.ts";

/** What the writer of a live event says; the thread adds the rest. */
export type NewLive<T extends LiveType = LiveType> = T extends LiveType
  ? Omit<LiveEvent<T>, "threadId" | "at" | "turnId">
  : never;

export function heldInfo(count: number): NewLive<"info"> {
  const what = count === 1 ? "One input stays queued" : `${count} inputs stay queued`;
  return {
    type: "info",
    message: `${what}: the next input or resume() goes on with it, removeInput() drops it.`,
  };
}

/**
 * One delta. `message` is a getter of the class, so it is not copied, not serialised, and costs nothing until it is read; and
 * because contents are never changed in place, it still tells what had been said at this delta when it is read much later.
 */
export class MessageUpdate {
  readonly type = "message_update";
  readonly threadId: string;
  readonly at: number;
  readonly turnId: string;
  readonly messageId: string;
  readonly role: Role = "assistant";
  readonly index: number;
  readonly part: "text" | "reasoning";
  readonly delta: string;
  readonly #content: readonly Part[];

  constructor(
    where: { threadId: string; at: number; turnId: string; messageId: string },
    update: { index: number; part: "text" | "reasoning"; delta: string; content: readonly Part[] },
  ) {
    this.threadId = where.threadId;
    this.at = where.at;
    this.turnId = where.turnId;
    this.messageId = where.messageId;
    this.index = update.index;
    this.part = update.part;
    this.delta = update.delta;
    this.#content = update.content;
  }

  get message(): Message {
    return { id: this.messageId, role: this.role, content: [...this.#content] };
  }
}

/** At most one per tick, however many events came in. */
export class DisplayStateChanged {
  readonly type = "display_state_changed";
  readonly threadId: string;
  readonly at: number;
  readonly #state: HarnessDisplayState;

  constructor(state: HarnessDisplayState, at: number) {
    this.threadId = state.threadId ?? "";
    this.at = at;
    this.#state = state;
  }

  get displayState(): HarnessDisplayState {
    return this.#state;
  }
}
