import { CinchError } from "../errors.ts";
import { noteId } from "../config/run-id.ts";
import { abort, abortEnded } from "../commands/abort.ts";
import { SignedThread } from "./signed-thread.ts";
import { textOf } from "../events/message.ts";
import { isCancelled, isOpenIn, worksOnRun, type Run } from "../folds/runs.ts";
import { waitsForRun } from "../folds/awaited.ts";
import type { Ended, ThreadState, Turn } from "../folds/state.ts";
import { isWaiting } from "../folds/progress.ts";
import { withTimeout } from "../ports/clock.ts";
import { trieEntries, trieGet } from "../folds/trie.ts";
import { cancelledBeforeStart, endRun, failedRun, hasStarted, type EndedRun } from "../turn/ended-run.ts";
import { introduction, relayed } from "./relay.ts";
import { endedTurn, lastEnded, useOfRun, type RunUse } from "./run-turn.ts";
import { createChild, namedInput, resumeSession } from "./start-run.ts";
import { Subscriber } from "./subscriber.ts";
import type { Thread } from "./thread.ts";

const REPORT_CHARS = 30_000;
const NOTE_CHARS = 8_000;

/** One unfinished run in this process: starts it, follows its child, and records its end. Everything it does can be done twice. */
export class ChildRun {
  readonly #run: Run;
  readonly #owner: Thread;
  /** Ends the current wait. */
  #wake: () => void = () => undefined;
  readonly #opened = Promise.withResolvers<void>();
  #child: Thread | undefined;
  #isOpening = true;
  #isStopped = false;
  #hasTimedOut = false;

  constructor(owner: Thread, run: Run) {
    this.#owner = owner;
    this.#run = run;
  }

  /** Starts the run, unless it has started. Settles when its end is recorded, or this process stops following it. */
  async reconcile(): Promise<void> {
    try {
      const child = await this.#open();
      if (child) await this.#attend(child);
    } finally {
      this.#setOpened();
    }
  }

  /** Its child is not open here yet, so its status and its questions are not known here. */
  get isOpening(): boolean {
    return this.#isOpening;
  }

  /** Settles when the child is open here, or can't be opened. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  #setOpened(): void {
    this.#isOpening = false;
    this.#opened.resolve();
  }

  /** The run as the owner's journal has it now. A rewind may have changed it. `undefined`: its end is recorded. */
  get #recorded(): Run | undefined {
    return trieGet(this.#owner.state.runs.unfinished, this.#run.runId);
  }

  get #isCancelled(): boolean {
    const run = this.#recorded;
    return run !== undefined && isCancelled(this.#owner.state, run);
  }

  /** Opens the child, and creates it first if necessary. `null`: there is none, and the end of the run is recorded. */
  async #open(): Promise<Thread | null> {
    const { threads, store } = this.#owner.ports;
    const { runId, childThreadId, session } = this.#run;
    try {
      if (this.#isCancelled && !(await hasStarted(store, this.#run))) return await this.#report(cancelledBeforeStart);
      if (session !== "resume" && !this.#isCancelled) await createChild(this.#run, this.#owner);
      const inherited = this.#owner.children.forks.get(runId);
      this.#owner.children.forks.delete(runId);
      return await threads.acquire(childThreadId, inherited);
    } catch (error) {
      if (!(error instanceof CinchError) || error.code !== "THREAD_NOT_FOUND") throw error;
      return this.#report(failure("its thread was deleted"));
    }
  }

  /** Follows the child until the run has ended. */
  async #attend(child: Thread): Promise<void> {
    this.#child = child;
    try {
      if (this.#owner.supervisor.declinesQuestions) child.supervisor.sessionEntered();
      const isStarted = this.#run.session !== "resume" || (await resumeSession(this.#run, child));
      if (this.#isStopped) return;
      if (!isStarted) await this.#report(failure("its session is busy with something else"));
      else await this.#relaying(child, () => this.#recordEnd(child));
    } finally {
      this.#child = undefined;
      const left = this.#owner.ports.threads.release(child);
      left.catch(() => undefined);
    }
  }

  /** Passes the events of the child on while `work` takes. */
  async #relaying(child: Thread, work: () => Promise<void>): Promise<void> {
    const { pass } = this.#owner.descendantEvents;
    const relay = this.#relay(child);
    child.descendantEvents.listeners.add(pass);
    try {
      await work();
    } finally {
      child.subscribers.delete(relay);
      child.descendantEvents.listeners.delete(pass);
    }
  }

  #relay(child: Thread): Subscriber {
    const owner = this.#owner;
    owner.derived(introduction(child));
    // The child has reported that before its events were passed on.
    const blocked = child.supervisor.whyBlocked;
    if (blocked) owner.report(`The subagent "${this.#run.agentName}" can't be driven from here`, blocked);
    owner.wakeWaiters();
    this.#setOpened();
    const subscriber = new Subscriber(
      (event) => {
        const live = relayed(child, event);
        if (live) owner.derived(live);
        if (child.supervisor.isAtWork && live && !event.type.startsWith("subagent_"))
          owner.descendantEvents.pass(this.#run.path, event);
        const mayChangeStatus = "v" in event || event.type.startsWith("subagent_");
        if (live && mayChangeStatus && live.type !== "subagent_text_delta") owner.wakeWaiters();
      },
      (error) => owner.report("An event of a subagent could not be passed on", error),
    );
    child.subscribers.add(subscriber);
    return subscriber;
  }

  /** Waits for the end of the run, and records it. Aborts a run that is cancelled, or has reached its timeout. */
  async #recordEnd(child: Thread): Promise<void> {
    let isAborted = false;
    let used: RunUse = {};
    while (!this.#isStopped) {
      // Subscribed before the states are read, so that no change is missed.
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      const changed = Promise.race([child.changed(), woken]);
      // Another process has recorded its end.
      if (!this.#recorded) return this.#endUnlessEnded(child);
      // A deleted journal does not say any more what the run has used.
      used = useOfRun(child.state, this.#run.runId) ?? used;
      const deleted: ReportedRun = { ...failure("its thread was deleted"), ...used };
      const end = child.isDeleted ? deleted : await endOfRun(child, this.#run.runId);
      if (end && (child.isDeleted || (await hasEndedBelow(child, end.turnId)))) {
        await this.#endCommands(end);
        // The abort of a cancelled run that has not begun removes its input.
        await this.#report(end === inputRemoved && this.#isCancelled ? cancelledBeforeStart : end);
        return;
      }
      const msLeft = this.#msLeft(child);
      if (!isAborted && (msLeft <= 0 || this.#isCancelled)) {
        isAborted = true;
        this.#hasTimedOut = msLeft <= 0;
        await abort(new SignedThread(child), { inbox: true, runId: this.#run.runId });
        continue;
      }
      await this.#changedOrLate(changed, isAborted ? Infinity : msLeft);
    }
  }

  async #endUnlessEnded(child: Thread): Promise<void> {
    if (child.isDeleted) return;
    const end = await endOfRun(child, this.#run.runId);
    if (!end) await abort(new SignedThread(child), { inbox: true, runId: this.#run.runId });
    await this.#endCommands(end);
  }

  /** Ends the background commands that this process has started for the child. Those of a session stay for its next run. */
  async #endCommands(end: EndedRun | null): Promise<void> {
    const { workspace } = this.#owner.ports;
    const isKept = this.#run.session !== "stateless" && end !== null && end.status !== "aborted";
    if (!isKept) await workspace?.endCommands?.(this.#run.childThreadId);
  }

  /** Until the timeout of the run, which counts the time at work. */
  #msLeft(child: Thread): number {
    const { timeoutMs } = this.#run.background ?? {};
    if (timeoutMs === undefined) return Infinity;
    const { ms, isAtWork } = workOf(child);
    return isAtWork || ms >= timeoutMs ? timeoutMs - ms : Infinity;
  }

  async #changedOrLate(changed: Promise<void>, ms: number): Promise<void> {
    if (ms === Infinity) return changed;
    await withTimeout(this.#owner.ports.clock, changed, { ms });
  }

  isAwaitedBy(turn: Turn): boolean {
    return waitsForRun(turn, this.#run);
  }

  /** `undefined`: it is not open here. */
  get child(): Thread | undefined {
    return this.#child;
  }

  /** The run has ended, and its end is not recorded yet. */
  get isReporting(): boolean {
    return this.#recorded !== undefined && !!this.#child && lastEnded(this.#child.state, this.#run.runId) !== null;
  }

  /** Records the end of the run, unless it is recorded. */
  async #report(end: ReportedRun): Promise<null> {
    const { turnId: _, cutOff, ...ended } = end;
    const { content, ...how } = this.#asTimeout(ended);
    const report = { content, cutOff };
    await this.#owner.command(({ runs, agent, ended: last }) => {
      const run = trieGet(runs.unfinished, this.#run.runId);
      if (!run) return null;
      const { runId, agentName, background, seq } = run;
      const events = endRun(run, { ...how, content: reportText(run, report, REPORT_CHARS) });
      // Its caller's run has ended: a note would begin a turn of nobody.
      const isLeft = last?.turnId === run.turnId && worksOnRun(agent, last);
      if (!background?.wake || seq <= runs.cancelledUpTo || isLeft) return { events };
      const note = `The background subagent ${background.agentId} (${agentName}) has ended: ${how.status}.\n${reportText(run, report, NOTE_CHARS)}`;
      return { events: [...events, { ...namedInput(noteId(runId), note), delivery: "steer", note: true }] };
    });
    return null;
  }

  /** An aborted run that was at work for too long has reached its timeout. */
  #asTimeout(end: EndedRun): EndedRun {
    const { timeoutMs = Infinity } = this.#run.background ?? {};
    const isLate = this.#hasTimedOut || end.durationMs >= timeoutMs;
    if (end.status !== "aborted" || !isLate) return end;
    const content = end.content.replace(WHY.aborted, `was at work for ${timeoutMs} ms and reached its timeout`);
    return { ...end, status: "timeout", content };
  }

  /** Ends a background run that this process drives, because the harness is closed. */
  async cancelIfDriven(): Promise<void> {
    const child = this.#child;
    if (!this.#run.background || !child || !isDrivenHere(child)) return;
    await abortEnded(await abort(new SignedThread(child), { inbox: true }));
  }

  /** Must be called after each change of the owner. Events that mean nothing for the run do not wake it. */
  ownerChanged(): void {
    if (!this.#recorded || this.#isCancelled) this.#wake();
  }

  stop(): void {
    this.#isStopped = true;
    this.#wake();
  }
}

interface Work {
  ms: number;
  /** Whether it goes on. Without a driver, time does not count. */
  isAtWork: boolean;
}

/** How long the turn of a thread has been at work, with the subagents that it waits for. */
function workOf({ state: { turn }, ports: { clock }, supervisor, children }: Thread): Work {
  if (!turn) return { ms: 0, isAtWork: false };
  const { at, ms } = turn.watch;
  const sinceMs = Math.max(0, clock.now() - at);
  // The process that drives the thread has those above it open, too.
  if (!isWaiting(turn)) return supervisor.isDriving ? { ms: ms + sinceMs, isAtWork: true } : { ms, isAtWork: false };
  const below = children.awaitedBy(turn).map(workOf);
  const belowMs = Math.max(0, ...below.map((one) => one.ms));
  return { ms: ms + Math.min(sinceMs, belowMs), isAtWork: below.some(({ isAtWork }) => isAtWork) };
}

/** How long the subagents have worked that the turn of a thread waits for, since it does. None does, if they wait for a person. */
export function workedBelow(thread: Thread): number {
  const { turn } = thread.state;
  if (!turn || !isWaiting(turn)) return 0;
  const { ms, isAtWork } = workOf(thread);
  return isAtWork ? ms - turn.watch.ms : 0;
}

/** Whether this process drives the thread, or a subagent that its turn waits for. */
const isDrivenHere = ({ supervisor, children, state: { turn } }: Thread): boolean =>
  supervisor.isAtWork || (turn !== null && children.awaitedBy(turn).some(isDrivenHere));

/**
 * What a run has started in the background and not awaited ends with it: no agent would get the report. False until it has ended.
 * `turnId`: of the run. What a person's turns have started goes on.
 */
async function hasEndedBelow(child: Thread, turnId: string | undefined): Promise<boolean> {
  const below = ({ runs }: ThreadState) =>
    Array.from(trieEntries(runs.unfinished), ([, run]) => run).filter((run) => run.turnId === (turnId ?? run.turnId));
  if (below(child.state).length === 0) return true;
  await child.command((state) => {
    const isDone = below(state).every(({ seq }) => seq <= state.runs.cancelledUpTo);
    return isDone ? null : { events: [{ type: "abort_requested", ...(turnId === undefined ? {} : { turnId }) }] };
  });
  return false;
}

const failure = (why: string): EndedRun => failedRun("failed", `The subagent failed: ${why}.`);

const inputRemoved = failure("its input was removed");

/** `null`: the run has not ended. */
async function endOfRun(child: Thread, runId: string): Promise<ReportedRun | null> {
  const { state } = child;
  if (isOpenIn(state, runId)) return null;
  const ended = await endedTurn(child, runId);
  return ended ? runEndOf(ended) : inputRemoved;
}

const WHY: Record<Exclude<Ended["reason"], "complete">, string> = {
  aborted: "was aborted",
  declined: "was stopped, because the user declined one of its calls",
  error: "failed",
  max_steps: "reached its limit of steps",
  budget: "reached its budget",
};

/** The model did not stop by itself. */
const CUT_OFF = new Set(["length", "content-filter", "interrupted"]);

/** `turnId`: of the turn that worked on it, if there was one. `cutOff`: why the report is incomplete. */
type ReportedRun = EndedRun & { turnId?: string; cutOff?: string | undefined };

/** A provider may answer with a whole page. */
const ERROR_CHARS = 500;

function detailOf({ detail, error }: Ended): string {
  if (!error) return detail === null ? "" : ` (${detail})`;
  const { code, message } = error;
  const isCut = message.length > ERROR_CHARS;
  return ` (${code}: ${isCut ? `${message.slice(0, ERROR_CHARS).toWellFormed()}…` : message})`;
}

function runEndOf(ended: Ended): ReportedRun {
  const { turnId, reason, message, finishReason, usage, cost, durationMs } = ended;
  const text = message ? textOf(message.content).trim() : "";
  const used = { turnId, usage, cost, durationMs };
  const cutOff = CUT_OFF.has(finishReason) ? finishReason : undefined;
  if (reason === "complete" && text !== "") return { status: reason, content: text, isError: false, cutOff, ...used };
  const why = reason === "complete" ? "ended without a report" : WHY[reason];
  const soFar = text === "" ? "It had said nothing yet." : `What it said last:\n${text}`;
  const content = `The subagent ${why}${detailOf(ended)}. ${soFar}`;
  return { status: reason, content, isError: true, ...used };
}

/** The whole report stays in the thread of the child. */
function reportText(
  { childThreadId, session, background }: Run,
  { content, cutOff }: Pick<ReportedRun, "content" | "cutOff">,
  maxChars: number,
): string {
  const isCut = content.length > maxChars;
  const agentId = background ? ` agent_id="${background.agentId}"` : "";
  const sessionId = session === "stateless" ? "" : ` session_id="${childThreadId}"`;
  const rest = isCut ? `\n[cut; the whole report is the last message of thread ${childThreadId}]` : "";
  const half = cutOff === undefined ? "" : `\n[The report was cut off: ${cutOff}.]`;
  return `<task_result${agentId}${sessionId}>\n${content.slice(0, maxChars).toWellFormed()}${rest}${half}\n</task_result>`;
}
