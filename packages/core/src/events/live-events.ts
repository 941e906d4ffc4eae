import type { LiveEvent, LiveType } from "./event-map.ts";
import type { HarnessDisplayState } from "../folds/display-state.ts";
import type { Message, Part, Role } from "./message.ts";

/** A live event without the fields that the thread adds. */
export type NewLive<T extends LiveType = LiveType> = T extends LiveType
  ? Omit<LiveEvent<T>, "threadId" | "at" | "turnId">
  : never;

export function heldInfo(count: number): NewLive<"info"> {
  const [what, them] = count === 1 ? ["One input stays queued", "it"] : [`${count} inputs stay queued`, "them"];
  return {
    type: "info",
    message: `${what}. The next input takes ${them} along.`,
  };
}

/**
 * One delta. `message` is a getter of the class, so it is neither copied nor serialised, and costs nothing until it is read. Contents are
 * never changed in place, so it shows the message as of this delta even if it is read later.
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

/** Emitted at most once per tick, however many events arrived. The state is made when it is first read. */
export class DisplayStateChanged {
  readonly type = "display_state_changed";
  readonly threadId: string;
  readonly at: number;
  readonly #read: () => HarnessDisplayState;
  #state: HarnessDisplayState | undefined;

  constructor(threadId: string, at: number, read: () => HarnessDisplayState) {
    this.threadId = threadId;
    this.at = at;
    this.#read = read;
  }

  get displayState(): HarnessDisplayState {
    return (this.#state ??= this.#read());
  }
}
