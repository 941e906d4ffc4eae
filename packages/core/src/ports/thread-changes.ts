import type { ThreadListChange } from "./store.ts";

/**
 * The changes of a list of threads, for one reader with its own pace. Of each thread, only the newest record waits to be read, so that a
 * slow reader costs no more than the list is long.
 */
export class ThreadChanges implements AsyncIterableIterator<ThreadListChange> {
  readonly #unread = new Map<string, ThreadListChange>();
  readonly #waiting: ((result: IteratorResult<ThreadListChange>) => void)[] = [];
  readonly #left: () => void;
  #ended = false;

  /** `left` is called when the reader stops. */
  constructor(left: () => void) {
    this.#left = left;
  }

  push(change: ThreadListChange): void {
    if (this.#ended) return;
    const reader = this.#waiting.shift();
    if (reader) return reader({ value: change, done: false });
    const { kind } = change;
    const threadId = "thread" in change ? change.thread.id : change.threadId;
    const listed = `list ${threadId}`;
    if (kind === "pending") return void this.#unread.set(`pending ${threadId}`, change);
    if (kind === "deleted") this.#unread.delete(`pending ${threadId}`);
    const isNew = this.#unread.get(listed)?.kind === "created";
    this.#unread.set(listed, kind === "changed" && isNew ? { ...change, kind: "created" } : change);
  }

  async next(): Promise<IteratorResult<ThreadListChange>> {
    const [oldest] = this.#unread;
    if (oldest) {
      this.#unread.delete(oldest[0]);
      return { value: oldest[1], done: false };
    }
    if (this.#ended) return { value: undefined, done: true };
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Ends the iteration, also for a reader that waits. */
  async return(): Promise<IteratorResult<ThreadListChange>> {
    this.#unread.clear();
    this.end();
    return { value: undefined, done: true };
  }

  /** The store closes: what is unread can still be read. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#left();
    for (const reader of this.#waiting.splice(0)) reader({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** What an event does to the questions of a thread to a person. `undefined`: nothing. */
export function questionChange(event: {
  type: string;
  forChildren?: boolean;
}): "asked" | "answered" | "ended" | undefined {
  switch (event.type) {
    case "tool_suspended":
      return event.forChildren ? undefined : "asked";
    case "tool_approval_required":
      return "asked";
    case "tool_resumed":
    case "tool_approval_resolved":
      return "answered";
    // No question outlives its turn.
    case "agent_end":
    case "thread_rewound":
      return "ended";
    default:
      return undefined;
  }
}
