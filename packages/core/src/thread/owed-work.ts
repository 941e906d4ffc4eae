import type { DurableEvent } from "../events/event-map.ts";
import { hasCancelledRuns } from "../folds/runs.ts";
import { progressAt } from "../folds/progress.ts";
import type { ThreadState } from "../folds/state.ts";
import { withTimeout } from "../ports/clock.ts";
import { needsDriving, nextDueAt } from "../turn/decide.ts";
import { endsRecorded } from "./ends-recorded.ts";
import type { Thread } from "./thread.ts";

/**
 * What a process owes other threads after an append: to start or abort the runs of subagents, and to record the end of a run with its
 * owner. With a placement, a thread stays awake until that is done. If the process dies before, a worker finds the thread and does it.
 */
export class OwedWork {
  readonly #thread: Thread;
  #settling: Promise<boolean> | undefined;
  /** Counts the appends that owe something. */
  #owed = 0;

  constructor(thread: Thread) {
    this.#thread = thread;
  }

  /** What an append of these events says about the thread. One that has no say in it leaves awake what another process owes. */
  awakeAfter(
    events: readonly DurableEvent[],
    { before, after }: { before: ThreadState; after: ThreadState },
  ): { awake?: boolean } {
    const awake = needsDriving(after) || this.isOpen || this.#isOwed(events, after);
    return awake || needsDriving(before) || !this.#thread.ports.wakes ? { awake } : {};
  }

  get isOpen(): boolean {
    return this.#settling !== undefined;
  }

  /** This process has appended these events. */
  appended(events: readonly DurableEvent[], after: ThreadState): void {
    if (!this.#isOwed(events, after)) return;
    this.#owed++;
    // What is not settled stays awake, and is a worker's.
    this.settle().catch(() => undefined);
  }

  /** Whether these events, which lead to this state, owe something to other threads. */
  #isOwed(events: readonly DurableEvent[], after: ThreadState): boolean {
    return this.#thread.ports.wakes !== undefined && owesWork(events, after);
  }

  /** Does what is owed, and then lets the thread sleep. False if it stays awake. */
  settle(): Promise<boolean> {
    this.#settling ??= this.#settle().finally(() => (this.#settling = undefined));
    return this.#settling;
  }

  async #settle(): Promise<boolean> {
    const thread = this.#thread;
    const { store, clock } = thread.ports;
    for (;;) {
      const owed = this.#owed;
      await thread.children.opened();
      const isAborted = withTimeout(
        clock,
        thread.until(({ runs }) => !hasCancelledRuns(runs)),
      );
      const isDone = (await isAborted) === true && (await endsRecorded(thread)) && !thread.children.isOpening;
      if (thread.isClosed || !isDone) return false;
      if (owed !== this.#owed) continue;
      const state = progressAt(thread.state, clock.now());
      if (state.foreign || needsDriving(state)) return !state.foreign;
      const slept = await store.append(thread.id, [], {
        afterSeq: state.seq,
        awake: false,
        dueAt: nextDueAt(state),
      });
      if (slept.kind === "appended") return true;
      await thread.refresh();
    }
  }
}

const OF_RUNS: ReadonlySet<string> = new Set(["subagent_start", "subagent_end", "abort_requested", "thread_rewound"]);

function owesWork(events: readonly DurableEvent[], { agent, turn, runs }: ThreadState): boolean {
  if (runs.unfinished.size > 0 && events.some(({ type }) => OF_RUNS.has(type))) return true;
  const isOver = ({ type }: DurableEvent) =>
    type === "agent_end" || type === "abort_requested" || type === "input_removed";
  return agent !== null && turn === null && events.some(isOver);
}
