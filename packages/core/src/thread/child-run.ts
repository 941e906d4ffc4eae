import { CinchError } from "../errors.ts";
import { noteId } from "../config/run-id.ts";
import { abort, abortEnded } from "../commands/abort.ts";
import { stamp, type NewEvent } from "../events/event-map.ts";
import { textOf } from "../events/message.ts";
import { hasCancelledRuns, type Run, type Runs } from "../folds/runs.ts";
import type { Ended, ThreadState } from "../folds/state.ts";
import { newFolds } from "../folds/folds.ts";
import { isWaiting } from "../folds/progress.ts";
import type { HeldRule } from "../permissions/rule.ts";
import { sleep } from "../ports/clock.ts";
import { trieGet } from "../folds/trie.ts";
import { loadFolds } from "./load-folds.ts";
import { endRun, failedRun, type EndedRun } from "../turn/ended-run.ts";
import { introduction, relayed } from "./relay.ts";
import { Subscriber } from "./subscriber.ts";
import type { Thread } from "./thread.ts";

const REPORT_CHARS = 30_000;
const NOTE_CHARS = 8_000;
const TITLE_CHARS = 80;

/** One unfinished run in this process: starts it, follows its child, and records its end. Everything it does can be done twice. */
export class ChildRun {
  readonly run: Run;
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
    this.run = run;
  }

  /** Settles when the end of the run is recorded, or this process stops following it. */
  async follow(): Promise<void> {
    try {
      await this.#follow();
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

  async #follow(): Promise<void> {
    const { threads } = this.#owner.ports;
    const { childThreadId, session } = this.run;
    try {
      if (session !== "resume") await createChild(this.run, this.#owner);
      const inherited = this.#owner.children.forks.get(this.run.runId);
      this.#owner.children.forks.delete(this.run.runId);
      this.#child = await threads.acquire(childThreadId, inherited);
    } catch (error) {
      if (!(error instanceof CinchError) || error.code !== "THREAD_NOT_FOUND") throw error;
      return this.#report(failure("its thread was deleted"));
    }
    const child = this.#child;
    if (this.#owner.supervisor.declinesQuestions) child.supervisor.seated();
    try {
      const isStarted = session !== "resume" || (await resumeSession(this.run, child));
      if (isStarted) await this.#followChild(child);
      else await this.#report(failure("its session is busy with something else"));
    } finally {
      this.#child = undefined;
      const left = threads.release(child);
      left.catch(() => undefined);
    }
  }

  async #followChild(child: Thread): Promise<void> {
    const { pass } = this.#owner.descendantEvents;
    const relay = this.#relay(child);
    child.descendantEvents.listeners.add(pass);
    try {
      await this.#watch(child);
    } finally {
      child.subscribers.delete(relay);
      child.descendantEvents.listeners.delete(pass);
    }
  }

  #relay(child: Thread): Subscriber {
    const owner = this.#owner;
    owner.live(introduction(child));
    owner.wakeWaiters();
    this.#setOpened();
    const subscriber = new Subscriber(
      (event) => {
        const live = relayed(child, event);
        if (live) owner.live(live);
        if (child.supervisor.running && live && !event.type.startsWith("subagent_"))
          owner.descendantEvents.pass(this.run.path, event);
        const mayChangeStatus = "v" in event || event.type.startsWith("subagent_");
        if (live && mayChangeStatus && live.type !== "subagent_text_delta") owner.wakeWaiters();
      },
      (error) => owner.report("An event of a subagent could not be passed on", error),
    );
    child.subscribers.add(subscriber);
    return subscriber;
  }

  async #watch(child: Thread): Promise<void> {
    let isAborted = false;
    while (!this.#isStopped) {
      // Subscribed before the states are read, so that no change is missed.
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      const changed = Promise.race([child.changed(), woken]);
      // Its end is recorded, or a rewind has removed its start.
      if (!trieGet(this.#owner.state.runs.unfinished, this.run.runId)) return this.#endCut(child);
      if (child.isDeleted) return this.#report(failure("its thread was deleted"));
      const end = await endOfRun(child, this.run.runId);
      if (end && (await hasEndedBelow(child))) {
        await this.#endCommands(end);
        return this.#report(end);
      }
      const msLeft = this.#msLeft(child);
      if (!isAborted && (msLeft <= 0 || isCancelled(this.#owner.state, this.run))) {
        isAborted = true;
        this.#hasTimedOut = msLeft <= 0;
        await abort(child, { inbox: true });
        continue;
      }
      await this.#changedOrLate(changed, isAborted ? Infinity : msLeft);
    }
  }

  async #endCut(child: Thread): Promise<void> {
    if (child.isDeleted) return;
    const end = await endOfRun(child, this.run.runId);
    if (!end) await abort(child, { inbox: true });
    await this.#endCommands(end);
  }

  /** Ends the background commands that this process has started for the child. Those of a session stay for its next run. */
  async #endCommands(end: EndedRun | null): Promise<void> {
    const { workspace } = this.#owner.ports;
    const isKept = this.run.session !== "stateless" && end !== null && end.status !== "aborted";
    if (!isKept) await workspace?.endCommands?.(this.run.childThreadId);
  }

  /** Until the timeout of the run, which counts the time at work. */
  #msLeft({ state: { turn }, ports: { clock }, supervisor: { isDriving } }: Thread): number {
    const { timeoutMs } = this.run.background ?? {};
    if (timeoutMs === undefined || !turn || isWaiting(turn)) return Infinity;
    const msLeft = timeoutMs - turn.watch.ms;
    // The process that drives the child has this thread open, too. Without a driver, the time does not count.
    if (!isDriving) return msLeft > 0 ? Infinity : 0;
    return msLeft - Math.max(0, clock.now() - turn.watch.at);
  }

  async #changedOrLate(changed: Promise<void>, ms: number): Promise<void> {
    if (ms === Infinity) return changed;
    const stop = new AbortController();
    await Promise.race([changed, sleep(this.#owner.ports.clock, ms, stop.signal)]);
    stop.abort();
  }

  /** `undefined`: it is not open here. */
  get child(): Thread | undefined {
    return this.#child;
  }

  /** The run has ended, and its end is not recorded yet. */
  get isReporting(): boolean {
    const { runId } = this.run;
    const isUnfinished = trieGet(this.#owner.state.runs.unfinished, runId) !== undefined;
    return isUnfinished && this.#child !== undefined && endIn(this.#child.state, runId) !== null;
  }

  async #report(end: EndedRun): Promise<void> {
    const { runId, agentName, background, seq } = this.run;
    const { content, ...how } = this.#withTimeout(end);
    const events = endRun(this.run, { ...how, content: reportText(this.run, content, REPORT_CHARS) });
    await this.#owner.command(({ runs }) => {
      if (!trieGet(runs.unfinished, runId)) return null;
      if (!background?.wake || seq <= runs.cancelledUpTo) return { events };
      const note = `The background subagent ${background.agentId} (${agentName}) has ended: ${how.status}.\n${reportText(this.run, content, NOTE_CHARS)}`;
      return { events: [...events, { ...inputOf(noteId(runId), note), delivery: "steer", note: true }] };
    });
  }

  /** An aborted run that was at work for too long has reached its timeout. */
  #withTimeout(end: EndedRun): EndedRun {
    const { timeoutMs = Infinity } = this.run.background ?? {};
    const isLate = this.#hasTimedOut || end.durationMs >= timeoutMs;
    if (end.status !== "aborted" || !isLate) return end;
    const content = end.content.replace(WHY.aborted, `was at work for ${timeoutMs} ms and reached its timeout`);
    return { ...end, status: "timeout", content };
  }

  /** Ends a background run that this process drives, because the harness is closed. */
  async cancelIfDriven(): Promise<void> {
    const child = this.#child;
    if (!this.run.background || !child?.supervisor.running) return;
    await abortEnded(await abort(child, { inbox: true }));
  }

  /** Must be called after each change of the owner. Events that mean nothing for the run do not wake it. */
  ownerChanged(): void {
    const { state } = this.#owner;
    if (!trieGet(state.runs.unfinished, this.run.runId) || isCancelled(state, this.run)) this.#wake();
  }

  stop(): void {
    this.#isStopped = true;
    this.#wake();
  }
}

/** What a run has started in the background and not awaited ends with it: no agent would get the report. False until it has ended. */
async function hasEndedBelow(child: Thread): Promise<boolean> {
  if (child.state.runs.unfinished.size === 0) return true;
  await child.command(({ runs }) => {
    const isDone = runs.unfinished.size === 0 || hasCancelledRuns(runs);
    return isDone ? null : { events: [{ type: "abort_requested" }] };
  });
  return false;
}

/** Appends the input of the run to the thread of its session. False if the session is at work on something else. */
async function resumeSession({ runId, task, input = task }: Run, child: Thread): Promise<boolean> {
  const isStarted = (await child.ports.store.findInput(child.id, runId)) !== undefined;
  if (isStarted) return true;
  const isBusy = await child.command(({ turn, inbox, named }) => {
    if (named.includes(runId)) return { events: [], result: false };
    if (turn || inbox.length > 0) return { events: [], result: true };
    return { events: [inputOf(runId, input)], result: false };
  });
  return !isBusy;
}

const inputOf = (runId: string, content: string): NewEvent<"input_accepted"> => ({
  type: "input_accepted",
  inputId: runId,
  delivery: "send",
  content,
  named: true,
});

/** The rules of the session that a run copies. Those of the threads above it count anyway. */
async function copiedRules({ session, source, childThreadId }: Run, { ports }: Thread): Promise<HeldRule[]> {
  const isNeeded = session === "fork" && source && !(await ports.store.thread(childThreadId));
  if (!isNeeded) return [];
  return ports.threads.visit(source.threadId, async ({ state }) => [...state.control.policies.rules]);
}

/** Creates the thread of the child, with the input of the run. */
async function createChild(run: Run, owner: Thread): Promise<void> {
  const { store, clock } = owner.ports;
  const rules = await copiedRules(run, owner);
  const { runId, childThreadId, agentName, path, task, modeId, modelId, depth, toolCallId, seq, source } = run;
  const { agent: self, resourceId } = owner.state;
  const title = `${agentName}: ${task.trim().split("\n", 1)[0]}`.slice(0, TITLE_CHARS);
  const agent = { path, owner: owner.id, rootThreadId: self?.rootThreadId ?? owner.id, modeId, depth };
  const first: NewEvent = source
    ? { type: "thread_cloned", title, parent: { ...source, toolCallId }, agent, rules, state: {} }
    : {
        type: "thread_created",
        title,
        resourceId,
        parent: { threadId: owner.id, seq, toolCallId },
        agent,
        modeId,
      };
  const events: NewEvent[] = [
    first,
    ...(modelId === undefined ? [] : [{ type: "model_changed" as const, modelId, scope: "thread" as const, modeId }]),
    inputOf(runId, run.input ?? task),
  ];
  const stamped = events.map((event) => stamp(event, clock.now()));
  // If the thread exists, an earlier attempt has started the run.
  await store.append(childThreadId, stamped, { afterSeq: source?.seq ?? 0, active: true });
}

/** A run of the foreground does not outlive its turn. */
function isCancelled({ runs, turn }: { runs: Runs; turn: ThreadState["turn"] }, run: Run): boolean {
  return run.seq <= runs.cancelledUpTo || (!run.background && turn?.turnId !== run.turnId);
}

const failure = (why: string): EndedRun => failedRun("failed", `The subagent failed: ${why}.`);

/** `null`: the run has not ended. */
async function endOfRun(child: Thread, runId: string): Promise<EndedRun | null> {
  const { state } = child;
  const isOpen =
    state.inbox.some((item) => item.inputId === runId) || (state.turn && trieGet(state.turn.inputIds, runId));
  if (isOpen) return null;
  const ended = endIn(state, runId) ?? (await endInJournal(child, runId));
  return ended ? runEndOf(ended) : failure("its input was removed");
}

const endIn = ({ ended }: ThreadState, runId: string): Ended | null =>
  ended && trieGet(ended.inputIds, runId) ? ended : null;

/** A person may have continued the child since. */
async function endInJournal(child: Thread, runId: string): Promise<Ended | null> {
  const events = await child.read({});
  const taken = events.findLast((event) => event.type === "input_taken" && event.inputId === runId);
  const end = taken && events.find((event) => event.type === "agent_end" && event.turnId === taken.turnId);
  if (!end) return null;
  const folds = { from: newFolds(child.id), empty: newFolds(child.id), upTo: end.seq };
  return (await loadFolds((range) => child.read(range), folds)).state.ended;
}

const WHY: Record<Exclude<Ended["reason"], "complete">, string> = {
  aborted: "was aborted",
  declined: "was stopped, because the user declined one of its calls",
  error: "failed",
  max_steps: "reached its limit of steps",
  budget: "reached its budget",
};

function runEndOf({ reason, detail, message, usage, cost, durationMs }: Ended): EndedRun {
  const text = message ? textOf(message.content).trim() : "";
  const used = { usage, cost, durationMs };
  if (reason === "complete" && text !== "") return { status: reason, content: text, isError: false, ...used };
  const why = reason === "complete" ? "ended without a report" : WHY[reason];
  const soFar = text === "" ? "It had said nothing yet." : `What it said last:\n${text}`;
  const content = `The subagent ${why}${detail === null ? "" : ` (${detail})`}. ${soFar}`;
  return { status: reason, content, isError: true, ...used };
}

/** The whole report stays in the thread of the child. */
function reportText({ childThreadId, session, background }: Run, content: string, maxChars: number): string {
  const isCut = content.length > maxChars;
  const agentId = background ? ` agent_id="${background.agentId}"` : "";
  const sessionId = session === "stateless" ? "" : ` session_id="${childThreadId}"`;
  const rest = isCut ? `\n[cut; the whole report is the last message of thread ${childThreadId}]` : "";
  return `<task_result${agentId}${sessionId}>\n${content.slice(0, maxChars).toWellFormed()}${rest}\n</task_result>`;
}
