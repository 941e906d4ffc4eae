import type { EndReason, HarnessEvent, Session, Store, TurnResult } from "@cinch/core";

/** How a run ends, as far as the thread is concerned. */
export type TurnEnd =
  | { kind: "ended"; reason: EndReason }
  /** Only a person can go on. */
  | { kind: "waiting" }
  | { kind: "parked" }
  /** The turn stands, and nobody drives it any more. */
  | { kind: "failed"; message: string };

/** How long a turn may be without a driver after something went wrong, before it is given up. */
const ORPHAN_MS = 500;

/** Watches a session until what was asked of it is done, or can't go on. */
export class TurnWatch {
  readonly end: Promise<TurnEnd>;
  readonly #session: Session;
  readonly #store: Store;
  #settle!: (end: TurnEnd) => void;
  /** Whether the end of the last queued turn is the end; otherwise one certain turn is waited for. */
  #untilIdle = false;

  constructor(session: Session, store: Store) {
    this.#session = session;
    this.#store = store;
    this.end = new Promise((resolve) => (this.#settle = resolve));
  }

  see(event: HarnessEvent): void {
    switch (event.type) {
      case "agent_end": {
        const { reason } = event;
        const queued = this.#session.getDisplayState().inbox.length;
        // After an abort, what is queued is held back, and with it whatever we wait for.
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
        if (this.#session.getDisplayState().status === "waiting") this.#settle({ kind: "waiting" });
        return;
      case "info":
        setTimeout(() => this.#checkDriver(event.message), ORPHAN_MS).unref();
    }
  }

  untilIdle(): void {
    this.#untilIdle = true;
  }

  until(turn: Promise<TurnResult>): void {
    turn.then(
      ({ reason }) => this.#settle({ kind: "ended", reason }),
      (error: unknown) => this.#settle({ kind: "failed", message: messageOf(error) }),
    );
  }

  #checkDriver(message: string): void {
    const { threadId, status } = this.#session.getDisplayState();
    if (threadId === null || status !== "running") return;
    const orphaned = this.#store.lease(threadId).then((lease) => lease.status === "free");
    orphaned.then(
      (gone) => (gone ? this.#settle({ kind: "failed", message }) : undefined),
      (error: unknown) => this.#settle({ kind: "failed", message: messageOf(error) }),
    );
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
