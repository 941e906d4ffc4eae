import type { EndReason, HarnessEvent, Session, Store, TurnResult } from "@cinch/core";
import { messageOf } from "../error-message.ts";

/** How the turn of a run ended, or why it can't continue. */
export type TurnEnd =
  | { kind: "ended"; reason: EndReason }
  /** The turn needs an answer. */
  | { kind: "waiting" }
  | { kind: "parked" }
  /** The turn has not ended, and no process drives it. */
  | { kind: "failed"; message: string };

/** A question, by its place in a journal. */
interface AskedCall {
  threadId: string;
  seq: number;
}

/** How long after a notice a turn may be without a driver before the run looks, and looks again before it gives up. */
const ORPHAN_MS = 500;

/** Watches a session until its turn has ended or can't continue. */
export class TurnWatch {
  readonly end: Promise<TurnEnd>;
  readonly #session: Session;
  readonly #store: Store;
  #settle!: (end: TurnEnd) => void;
  #hasBegun = false;
  /** Wait for all queued turns, not only for one. */
  #untilIdle = false;
  /** The question that this run answers. While the display shows it, the answer has not arrived there. */
  #answered: AskedCall | undefined;

  constructor(session: Session, store: Store) {
    this.#session = session;
    this.#store = store;
    this.end = new Promise((resolve) => (this.#settle = resolve));
  }

  handle(event: HarnessEvent): void {
    switch (event.type) {
      case "agent_end": {
        const { reason } = event;
        const queued = this.#session.getDisplayState().inbox.filter(({ dueAt }) => dueAt === null).length;
        // After an abort, queued messages stay in the inbox, so there is nothing left to wait for.
        if (reason === "aborted" ? queued > 0 || this.#untilIdle : queued === 0 && this.#untilIdle)
          this.#settle({ kind: "ended", reason });
        return;
      }
      case "error":
        if (event.parked) this.#settle({ kind: "parked" });
        return;
      case "tool_suspended":
      case "tool_approval_required":
      case "tool_end":
      case "subagent_event":
      case "subagent_tool_end":
        return this.#checkWaiting();
      case "info":
        this.#checkLater(event.message);
    }
  }

  untilIdle({ answered }: { answered?: AskedCall } = {}): void {
    this.#untilIdle = true;
    this.#answered = answered;
  }

  /** The run has begun what is watched. Before, what already waits does not end it: the run may be about to answer it. */
  begun(): void {
    this.#hasBegun = true;
    this.#checkWaiting();
  }

  /** Ends the watch if nothing more happens without a person. */
  #checkWaiting(): void {
    if (!this.#hasBegun) return;
    const { status, pendingApprovals, pendingSuspensions } = this.#session.getDisplayState();
    const isAnswered = ({ threadId, seq }: AskedCall) =>
      threadId === this.#answered?.threadId && seq === this.#answered.seq;
    const pending = [...Object.values(pendingApprovals), ...Object.values(pendingSuspensions)];
    if (status === "waiting" && !pending.some(isAnswered)) this.#settle({ kind: "waiting" });
  }

  until(turn: Promise<TurnResult>): void {
    turn.then(
      ({ reason }) => this.#settle({ kind: "ended", reason }),
      (error: unknown) => this.#settle({ kind: "failed", message: messageOf(error) }),
    );
  }

  #checkLater(message: string, freeAt?: number): void {
    setTimeout(() => {
      this.#checkDriver(message, freeAt).catch((error: unknown) =>
        this.#settle({ kind: "failed", message: messageOf(error) }),
      );
    }, ORPHAN_MS).unref();
  }

  /** `freeAt`: the newest event when the turn was found without a driver. Between two turns, it has none for a moment. */
  async #checkDriver(message: string, freeAt: number | undefined): Promise<void> {
    const { threadId, status, seq } = this.#session.getDisplayState();
    if (threadId === null || status !== "running") return;
    const lease = await this.#store.lease(threadId);
    if (lease.status !== "free") return;
    if (seq === freeAt) this.#settle({ kind: "failed", message });
    else this.#checkLater(message, seq);
  }
}
