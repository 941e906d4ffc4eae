import { isClosed } from "../errors.ts";
import type { NewEvent } from "../events/event-map.ts";
import { awaitingCalls, awaitPayload, whyContinues } from "../folds/awaited.ts";
import type { Inherited } from "../folds/folds.ts";
import { isCancelled, type Run } from "../folds/runs.ts";
import type { Turn } from "../folds/state.ts";
import { trieEntries } from "../folds/trie.ts";
import { withTimeout } from "../ports/clock.ts";
import { ChildRun, workedBelow } from "./child-run.ts";
import type { NewLive } from "../events/live-events.ts";
import { introduction } from "./relay.ts";
import type { Thread } from "./thread.ts";

/** How long to wait before what failed is tried again: following a run, continuing a call. */
const RETRY_MS = 500;

/** The unfinished runs of an open thread. Any process that has the thread open starts, follows and ends them. */
export class Children {
  readonly #thread: Thread;
  readonly #runs = new Map<string, ChildRun>();
  /** What forks inherit, by run, until they are opened. */
  readonly forks = new Map<string, Inherited>();
  #cancelTimer: (() => void) | undefined;
  #closed = false;

  constructor(thread: Thread) {
    this.#thread = thread;
  }

  /** Must be called after each change of the thread. */
  changed(): void {
    const { state } = this.#thread;
    const { unfinished } = state.runs;
    if (this.#closed) return;
    if (state.foreign) return this.#leave();
    this.#continueAwaits();
    for (const run of this.#runs.values()) run.ownerChanged();
    if (unfinished.size === 0 && !state.turn) this.forks.clear();
    if (unfinished.size === 0) return;
    const runs = Array.from(trieEntries(unfinished), ([, run]) => run);
    if (runs.every(({ runId }) => this.#runs.has(runId))) return;
    let inBackground = 0;
    for (const run of runs.toSorted((a, b) => a.seq - b.seq)) {
      const hasPlace = !run.background || inBackground < (run.background.maxConcurrent ?? Infinity);
      if (run.background) inBackground++;
      if ((hasPlace || isCancelled(state, run)) && !this.#runs.has(run.runId)) this.#follow(run);
    }
  }

  /** Continues the calls of `agent_await` whose condition holds, or whose time is over. */
  #continueAwaits(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const { state, ports } = this.#thread;
    const waiting = awaitingCalls(state);
    if (waiting.length === 0) return;
    const isDue = waiting.some((call) => whyContinues(state, awaitPayload(call), ports.clock.now()) !== null);
    if (isDue) return this.#continueDue();
    const until = Math.min(...waiting.map((call) => awaitPayload(call).until ?? Infinity));
    if (until < Infinity)
      this.#cancelTimer = ports.clock.after(Math.max(0, until - ports.clock.now()), () => this.#continueAwaits());
  }

  #continueDue(): void {
    const { clock } = this.#thread.ports;
    const continued = this.#thread.command((state) => {
      const { turnId = "" } = state.turn ?? {};
      const workedMs = workedBelow(this.#thread);
      const events = awaitingCalls(state).flatMap((call): NewEvent[] => {
        const { toolCallId, toolName } = call;
        const why = whyContinues(state, awaitPayload(call), clock.now());
        return why === null ? [] : [{ type: "tool_resumed", turnId, toolCallId, toolName, resumeData: why, workedMs }];
      });
      return events.length > 0 ? { events } : null;
    });
    continued.catch((error: unknown) => {
      if (this.#closed || isClosed(error)) return;
      this.#thread.report("A call that waits for subagents could not be continued", error);
      // In place of the timer: each look that fails would begin a series of its own.
      this.#cancelTimer?.();
      this.#cancelTimer = clock.after(RETRY_MS, () => this.#continueAwaits());
    });
  }

  #follow(run: Run): void {
    const followed = new ChildRun(this.#thread, run);
    this.#runs.set(run.runId, followed);
    const forget = () => void this.#runs.delete(run.runId);
    followed.reconcile().then(forget, (error: unknown) => {
      if (this.#closed) return;
      this.#thread.report(`The subagent "${run.agentName}" could not be followed`, error);
      this.#thread.later(RETRY_MS, () => {
        forget();
        this.changed();
      });
    });
  }

  /** The children of unfinished runs that are open here. */
  get open(): readonly Thread[] {
    return Array.from(this.#runs.values()).flatMap(({ child }) => child ?? []);
  }

  /** Those of them that a turn of the thread waits for. */
  awaitedBy(turn: Turn): readonly Thread[] {
    return Array.from(this.#runs.values()).flatMap((run) => (run.child && run.isAwaitedBy(turn) ? run.child : []));
  }

  /** Descendants are not open here yet, so their questions are not known here. */
  get isOpening(): boolean {
    const runs = Array.from(this.#runs.values());
    return runs.some(({ isOpening }) => isOpening) || this.open.some(({ children }) => children.isOpening);
  }

  /** Settles when all descendants that can be opened are open here, or after a timeout. */
  async opened(): Promise<void> {
    const all = Promise.all(Array.from(this.#runs.values(), ({ opened }) => opened));
    await withTimeout(this.#thread.ports.clock, all);
    await Promise.all(this.open.map(({ children }) => children.opened()));
  }

  /** A session has entered this thread, or one above it. */
  sessionEntered(): void {
    for (const child of this.open) {
      child.supervisor.sessionEntered();
      child.children.sessionEntered();
    }
  }

  /** A run has ended, and this process is about to record it. */
  get isReporting(): boolean {
    return Array.from(this.#runs.values()).some((run) => run.isReporting);
  }

  /** With `autoCancel`, background children that this process drives end with the harness. */
  async autoCancel(): Promise<void> {
    const { modes } = this.#thread.ports;
    const { modeId } = this.#thread.state.control;
    if (modeId !== null && !modes.has(modeId)) return;
    if (modes.current({ modeId }).agent.subagentBackground?.autoCancel !== true) return;
    await Promise.all(Array.from(this.#runs.values(), (run) => run.cancelIfDriven()));
  }

  /** The events that bring a new subscriber up to date with the open children, and with theirs. */
  introductions(): NewLive[] {
    return this.open.map(introduction);
  }

  /** Whether a newer release has ended runs, or has begun others, is not known here. */
  #leave(): void {
    this.#cancelTimer?.();
    for (const run of this.#runs.values()) run.stop();
  }

  close(): void {
    this.#closed = true;
    this.#leave();
  }
}
