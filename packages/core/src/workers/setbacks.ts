import type { Clock } from "../ports/clock.ts";

const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;
/** The oldest are forgotten: to try a thread too early costs little. */
const MOST = 1_000;

/** Threads that this process could not drive. It leaves each to other workers for a while: 1 s, then 2, 4, up to a minute. */
export class Setbacks {
  readonly #clock: Clock;
  readonly #until = new Map<string, { at: number; ms: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `dueAt`: the thread may be driven then. */
  add(threadId: string, dueAt: number | null = null): void {
    const now = this.#clock.now();
    const doubled = Math.min(LONGEST_MS, 2 * (this.#until.get(threadId)?.ms ?? FIRST_MS / 2));
    const ms = dueAt !== null && dueAt > now ? Math.min(doubled, dueAt - now) : doubled;
    this.#until.delete(threadId);
    this.#until.set(threadId, { at: now + ms, ms });
    if (this.#until.size > MOST) this.#until.delete(this.#until.keys().next().value!);
  }

  delete(threadId: string): void {
    this.#until.delete(threadId);
  }

  /** Those whose time is not over. */
  get threads(): string[] {
    const now = this.#clock.now();
    // Longer than it began with: the clock was set back.
    const isOver = ({ at, ms }: { at: number; ms: number }) => at <= now || at - now > ms;
    return [...this.#until].flatMap(([threadId, one]) => (isOver(one) ? [] : [threadId]));
  }
}
