import type { DurableEvent, HarnessEvent } from "../events/event-map.ts";

/**
 * What the driver of a thread shows, as readers in other processes get it.
 *
 * - `shown`: sent first, and again to a reader that lagged: what is on the screen and in no journal (the message that streams, the output
 *   of running calls), as live events that build it from nothing. It stands behind the journal up to `seq`.
 * - `live`: live events, in order. They stand behind the journal up to `seq`.
 * - `appended`: durable events that the driver has appended. The first has the `seq` after the last one that was sent, unless some are
 *   missing, which the reader then reads from the store.
 * - `ended`: the process drives the thread no more.
 */
export type LiveFrame =
  | { kind: "shown"; epoch: number; seq: number; events: readonly HarnessEvent[] }
  | { kind: "live"; epoch: number; seq: number; events: readonly HarnessEvent[] }
  | { kind: "appended"; epoch: number; events: readonly DurableEvent[] }
  | { kind: "ended"; epoch: number };

export type ReadFrame = (frame: LiveFrame) => void;

/** The threads that this process drives, for readers elsewhere. */
export interface LiveSource {
  /** Calls back with the frames of the thread, from now on. `undefined`: this process does not drive it. Returns a function that stops. */
  watch(threadId: string, read: ReadFrame): (() => void) | undefined;
}

/**
 * Carries what drivers show to the processes that watch: `peerLive` of `@cinch/postgres`. It may lose, delay and cut everything: the store
 * has every durable event, and drafts of the message that streams.
 */
export interface Live {
  /** Called once. The address is that of this process, for its peers. `undefined`: no other process can read from this one. */
  open(source: LiveSource): Promise<{ address?: string }>;
  /** Reads a thread that the process with this address drives, until the returned function is called. Connects again by itself. */
  follow(threadId: string, driver: { address: string }, read: ReadFrame): () => void;
  close(): Promise<void>;
}
