import assert from "node:assert/strict";
import {
  newDisplayState,
  reduceDisplay,
  type DurableEvent,
  type HarnessDisplayState,
  type HarnessEvent,
} from "@cinch/core";
import type { RemoteSession } from "@cinch/client";

/** What a client has shown: its display at each durable event, and at each `resync`. */
export class WatchedClient {
  readonly shown: { seq: number; display: HarnessDisplayState }[] = [];
  readonly seqs: number[] = [];
  readonly problems: string[] = [];
  readonly #session: RemoteSession;
  #last = 0;

  constructor(session: RemoteSession) {
    this.#session = session;
    session.subscribe((event) => this.#see(event));
  }

  #see(event: HarnessEvent): void {
    const display = this.#session.getDisplayState();
    if (event.type === "resync") {
      this.#last = display.seq;
      this.shown.push({ seq: display.seq, display });
    }
    if (!("v" in event)) return;
    if (event.seq !== this.#last + 1 && this.#last !== 0) this.problems.push(`${this.#last} is followed by ${event.seq}`);
    if (display.seq !== event.seq) this.problems.push(`the display is at ${display.seq} when ${event.seq} is reported`);
    this.#last = event.seq;
    this.seqs.push(event.seq);
    this.shown.push({ seq: event.seq, display });
  }

  /** Compares everything that it has shown with the fold of the journal. */
  verify(threadId: string, journal: readonly DurableEvent[]): void {
    assert.deepEqual(this.problems, []);
    const folded = new Map<number, HarnessDisplayState>();
    let display = newDisplayState(threadId);
    for (const event of journal) folded.set(event.seq, (display = reduceDisplay(display, event as HarnessEvent)));
    for (const { seq, display: shown } of this.shown) {
      if (seq > 0) assert.deepEqual(withoutLive(shown), withoutLive(folded.get(seq)!), `the display at ${seq}`);
    }
    assert.equal(this.#last, journal.at(-1)!.seq, "the client has seen the last event");
  }
}

/** What live events have said is not in the journal. */
function withoutLive(display: HarnessDisplayState): HarnessDisplayState {
  const activeTools = Object.fromEntries(
    Object.entries(display.activeTools).map(([id, tool]) => [id, { ...tool, partialResult: null, output: "" }]),
  );
  return { ...display, activeTools, currentMessage: null, toolInputBuffers: {}, omProgress: null };
}
