import assert from "node:assert/strict";
import {
  newDisplayState,
  reduceDisplay,
  type DurableEvent,
  type HarnessDisplayState,
  type HarnessEvent,
  type Session,
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
    if (event.seq !== this.#last + 1 && this.#last !== 0)
      this.problems.push(`${this.#last} is followed by ${event.seq}`);
    // After a rewind, the display is that after the last of its events.
    if (display.seq < event.seq) this.problems.push(`the display is at ${display.seq} when ${event.seq} is reported`);
    this.#last = event.seq;
    this.seqs.push(event.seq);
    this.shown.push({ seq: event.seq, display });
  }

  /** Compares everything that it has shown with what it should have shown. */
  verify(expected: Displays): void {
    assert.deepEqual(this.problems, []);
    for (const { seq, display } of this.shown) {
      if (seq > 0) assert.deepEqual(withoutLive(display), withoutLive(expected.get(seq)!), `the display at ${seq}`);
    }
    assert.equal(this.#last, [...expected.keys()].at(-1), "the client has seen the last event");
  }
}

/** The display after each durable event, by `seq`. */
export type Displays = ReadonlyMap<number, HarnessDisplayState>;

/** Folds journals of a thread, each as it was before the next rewind, and the last as it is now. */
export function displaysOf(threadId: string, ...journals: (readonly DurableEvent[])[]): Displays {
  const displays = new Map<number, HarnessDisplayState>();
  for (const journal of journals) {
    let display = newDisplayState(threadId);
    for (const event of journal) {
      display = reduceDisplay(display, event as HarnessEvent);
      if (!displays.has(event.seq)) displays.set(event.seq, display);
    }
  }
  return displays;
}

/** Records what a session in the process of the server shows. */
export function recordedDisplays(session: Pick<Session, "subscribe" | "getDisplayState">): Displays {
  const displays = new Map<number, HarnessDisplayState>();
  session.subscribe((event) => {
    if ("v" in event) displays.set(event.seq, session.getDisplayState());
  });
  return displays;
}

/** What live events have said is not in the journal. */
function withoutLive(display: HarnessDisplayState): HarnessDisplayState {
  const activeTools = Object.fromEntries(
    Object.entries(display.activeTools).map(([id, tool]) => [id, { ...tool, partialResult: null, output: "" }]),
  );
  return { ...display, activeTools, currentMessage: null, toolInputBuffers: {}, omProgress: null };
}
