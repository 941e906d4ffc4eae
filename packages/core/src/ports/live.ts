import type { HarnessEvent } from "../events/event-map.ts";

/** A place among the events that a driver has shown: `next` is the number of the next one under this epoch. */
export interface LivePosition {
  epoch: number;
  next: number;
}

/** Stands for a durable event that is too large for a frame. The reader reads it from the store. */
export interface StoredEvent {
  seq: number;
}

/**
 * What the driver of a thread shows, as readers in other processes get it. `epoch` is that of its lease: a reader that knows a newer one
 * ignores the frame.
 *
 * - `shown`: what is on the screen and in no journal (the message that streams, the output of running calls), as live events that build it
 *   from nothing. It stands behind the journal up to `seq`. The events from number `next` on follow it.
 * - `events`: live and durable events, in order and without gaps. The first one has the number `first`, counted under each lease.
 * - `ended`: another process drives the thread, or was the last to, and nothing follows.
 */
export type LiveFrame =
  | { kind: "shown"; epoch: number; next: number; seq: number; events: readonly HarnessEvent[] }
  | { kind: "events"; epoch: number; first: number; events: readonly (HarnessEvent | StoredEvent)[] }
  | { kind: "ended" };

export type ReadFrame = (frame: LiveFrame) => void;

/** The threads that this process drives, or was the last to drive, for readers elsewhere. */
export interface LiveSource {
  /**
   * Calls back with the frames of the thread, until the returned function is called: first, and before it returns, with what follows `from`
   * if the source still has that, and otherwise with a `shown`. A reader that can't keep up is stopped, and watches again later.
   * `undefined`: there is none, as after an `ended`.
   */
  watch(threadId: string, read: ReadFrame, from?: LivePosition): (() => void) | undefined;
}

/** Gets the frames of one thread. */
export interface LiveReader {
  read: ReadFrame;
  /** Where to continue after a cut. `undefined`: with what is shown then. */
  position(): LivePosition | undefined;
  /** The line to the driver is gone. `read` is called again when there is another one. */
  cut(): void;
}

/**
 * Carries what drivers show to the processes that watch: `peerLive` of `@cinch/postgres`. It may lose, repeat, delay and cut frames, but not
 * change their order: the store has every durable event, and drafts of the message that streams.
 */
export interface Live {
  /** Called once. The address is that of this process, for its peers. Without one, no other process can read from this one. */
  open(source: LiveSource): Promise<{ address?: string }>;
  /** Reads a thread that the process with this address drives, until the returned function is called. Connects again by itself. */
  follow(threadId: string, driver: { address: string }, reader: LiveReader): () => void;
  close(): Promise<void>;
}
