import type { Harness, Session } from "@cinch/core";
import { callerKey, type Who } from "./access/who.ts";

interface SeatPorts {
  harness: Harness;
  /** How long a seat stays open after its last use. */
  idleMs: number;
  /** The people at a thread may be others now. */
  changed(threadId: string): void;
}

interface Seat {
  threadId: string;
  by: string | undefined;
  session: Promise<Session>;
  /** The caller has access to the thread. */
  isOpen: boolean;
  uses: number;
  closing: NodeJS.Timeout | undefined;
}

/**
 * The sessions of callers, one for each caller and thread. A seat stays open for a while after its last use, so that a caller that sends
 * several commands does not open the thread for each.
 */
export class Seats {
  readonly #ports: SeatPorts;
  readonly #seats = new Map<string, Seat>();

  constructor(ports: SeatPorts) {
    this.#ports = ports;
  }

  /** Runs `work` with the caller's session at the thread. Throws `THREAD_NOT_FOUND` also for a thread of another resource. */
  async use<T>(threadId: string, who: Who, work: (session: Session) => Promise<T> | T): Promise<T> {
    const { session, leave } = await this.take(threadId, who);
    try {
      // Not awaited before: the thread must be current when the command is called.
      return await work(session);
    } finally {
      leave();
    }
  }

  /** Takes the seat until `leave` is called. */
  async take(threadId: string, who: Who): Promise<{ session: Session; leave: () => void }> {
    const key = `${callerKey(who)} ${threadId}`;
    for (;;) {
      const seat = this.#seats.get(key) ?? this.#open(key, threadId, who);
      const leave = this.#enter(key, seat);
      try {
        const session = await seat.session;
        this.#opened(seat);
        // A session leaves a thread that is deleted, and would choose another one for its next command.
        if (session.getCurrentThreadId() === threadId) return { session, leave };
      } catch (error) {
        this.#close(key, seat);
        throw error;
      }
      this.#close(key, seat);
    }
  }

  /** Runs `work` with a session of its own, for what concerns no thread, or moves the session to another one. */
  async visit<T>(who: Who, work: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.#ports.harness.createSession(seatOf(who));
    try {
      return await work(session);
    } finally {
      await session.close();
    }
  }

  /** The callers at a thread, each once. */
  people(threadId: string): string[] {
    const names = [...this.#seats.values()]
      .filter((seat) => seat.isOpen && seat.threadId === threadId)
      .map(({ by }) => by);
    return [...new Set(names.filter((by) => by !== undefined))].toSorted();
  }

  async close(): Promise<void> {
    const open = [...this.#seats];
    for (const [key, seat] of open) this.#close(key, seat);
    await Promise.allSettled(open.map(async ([, { session }]) => (await session).close()));
  }

  #open(key: string, threadId: string, who: Who): Seat {
    const session = this.#ports.harness.createSession({ threadId, ...seatOf(who) });
    const seat: Seat = { threadId, by: who.by, session, isOpen: false, uses: 0, closing: undefined };
    this.#seats.set(key, seat);
    return seat;
  }

  #opened(seat: Seat): void {
    if (seat.isOpen) return;
    seat.isOpen = true;
    this.#ports.changed(seat.threadId);
  }

  #enter(key: string, seat: Seat): () => void {
    seat.uses += 1;
    clearTimeout(seat.closing);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      seat.uses -= 1;
      if (seat.uses > 0 || this.#seats.get(key) !== seat) return;
      seat.closing = setTimeout(() => this.#close(key, seat), this.#ports.idleMs);
      seat.closing.unref();
    };
  }

  #close(key: string, seat: Seat): void {
    clearTimeout(seat.closing);
    if (this.#seats.get(key) !== seat) return;
    this.#seats.delete(key);
    this.#ports.changed(seat.threadId);
    // A session that could not be opened has reported that to its caller.
    seat.session.then((session) => session.close()).catch(() => undefined);
  }
}

const seatOf = ({ resourceId, by }: Who) => ({
  confined: true,
  ...(resourceId === undefined ? {} : { resourceId }),
  ...(by === undefined ? {} : { by }),
});
