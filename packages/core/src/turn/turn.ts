import { messageOfDraft } from "../thread/draft.ts";
import { unknownPrice } from "../config/prices.ts";
import { exhaustedInTree, limitsCostInTree } from "./tree-budget.ts";
import { CinchError, reasonOf } from "../errors.ts";
import type { NewEvent } from "../events/event-map.ts";
import { callsOf } from "../folds/call.ts";
import { tokensOf } from "../events/usage.ts";
import { isWaiting } from "../folds/progress.ts";
import type { Turn } from "../folds/state.ts";
import type { ThreadState } from "../folds/state.ts";
import type { Answer } from "../model/answer.ts";
import type { ModelFailure } from "../model/failure.ts";
import { withBreakpoints } from "../model/cache-breakpoints.ts";
import { memoryParts } from "../model/memory-message.ts";
import { toPrompt } from "../model/prompt.ts";
import { noUsage } from "../events/usage.ts";
import type { Message, Usage } from "../events/message.ts";
import { hashOf } from "../ports/hash.ts";
import { withoutFocus } from "../folds/transcript.ts";
import { hasCancelledRuns } from "../folds/runs.ts";
import { orAborted, withTimeout } from "../ports/clock.ts";
import type { Blob } from "../ports/store.ts";
import { ask } from "./ask-model.ts";
import { runCalls } from "./calls.ts";
import { fitContext } from "./fit-context.ts";
import {
  afterCall,
  askForReport,
  beginTurn,
  endTurn,
  enterStep,
  hasUnrecordedChanges,
  isCompactionDue,
  MAX_TAKEOVERS,
  needsDriving,
  noteMessage,
  stateAfter,
  stepEnd,
  takeSteers,
  waitsForPerson,
  type Proposal,
} from "./decide.ts";
import { LeaseLost, type Driver } from "./driver.ts";
import { authorize, firstEvent, isCurrent, runnableOf, refusal } from "./authorize.ts";
import { restoreFiles, settleCommands } from "./restore-files.ts";
import { profileNote } from "./profile-note.ts";
import type { Setup } from "./setup.ts";

/**
 * The turn loop. Advances a thread until only a person can: every turn that the inbox asks for, and the turn that a crash interrupted.
 * Each iteration reads the next action from the journal's state, so the same code runs with and without a crash.
 */
export async function runTurns(driver: Driver): Promise<void> {
  await takeOver(driver);
  const { undo } = driver.ports.workspace ?? {};
  // Also a driver that begins nothing more ends a turn that is to be aborted.
  while (driver.mayBegin || (driver.drives && !driver.state.foreign && driver.state.turn?.aborting)) {
    const { turn, files } = driver.state;
    if (files.restoring) await (undo ? restoreFiles(driver, undo) : leaveToOthers(driver));
    else if (undo && hasUnrecordedChanges(driver.state)) await settleCommands(driver, undo);
    else if (isCompactionDue(driver.state)) await compact(driver);
    else if (!turn) await begin(driver);
    // The first append takes the lease. Without it, another process drives the turn.
    else if (driver.epoch === undefined) return;
    else if (!driver.ports.modes.canAct(driver.state)) await driver.release();
    else if (turn.aborting) await endAborted(driver, null);
    else if (!turn.begun) await beginRetry(driver);
    else if (isWaiting(turn) && !(driver.declinesQuestions && waitsForPerson(driver.state))) await driver.release();
    else if (turn.phase === "calls") await runCallsOfStep(driver);
    else if (turn.endsAfterCalls) await driver.append((state) => endTurn(state, "declined"));
    else if (turn.phase === "done") await end(driver);
    else await step(driver, turn);
  }
}

/** How long an aborted turn waits for its children to stop. */
const CHILDREN_STOP_MS = 1_500;

async function childrenStopped({ journal, ports: { clock }, closing }: Driver): Promise<void> {
  const until = clock.now() + CHILDREN_STOP_MS;
  while (hasCancelledRuns(journal.state.runs) && clock.now() < until && !closing.aborted)
    await withTimeout(clock, journal.changed(), { ms: 50 });
}

/** Files are reverted before anything else, and only a process with their workspace can do that. */
function leaveToOthers(driver: Driver): Promise<void> {
  const message =
    "Files have to be reverted before this thread continues, and this process has no workspace that can do that.";
  driver.journal.live({ type: "info", message });
  return driver.release();
}

const setupOf = (driver: Driver): Setup => driver.ports.modes.setup(driver.state.control);

async function runCallsOfStep(driver: Driver): Promise<void> {
  const { modes } = driver.ports;
  await orAborted(modes.findNameOfCalls(driver.state), driver.signal);
  await runCalls(driver, modes.setupOfCalls(driver.state));
}

/** Continues the turn of an earlier driver. Records its draft as an interrupted message, and counts a dead driver as a takeover. */
async function takeOver(driver: Driver): Promise<void> {
  const { turn } = driver.state;
  if (!turn) return;
  const { id } = driver.journal;
  if (driver.takeover && driver.state.takeovers >= MAX_TAKEOVERS)
    return park(driver, `${MAX_TAKEOVERS + 1} drivers died here`);
  if (turn.aborting) await childrenStopped(driver);
  const draft = messageOfDraft(await driver.ports.store.draft(id));
  // Another process may have driven the turn since, to where it waits for a person.
  const isDue = (state: ThreadState) =>
    driver.force || needsDriving(state) || (driver.declinesQuestions && waitsForPerson(state));
  await driver.append((state) => {
    if (!state.turn || !isDue(state)) return null;
    const { turnId, modeId, modelId, aborting } = state.turn;
    if (aborting) return endTurn(state, "aborted", { before: interrupted(draft, turnId) });
    if (isWaiting(state.turn) && !driver.declinesQuestions) return null;
    const takeover = driver.takeover ? { takeover: true } : {};
    const start: NewEvent = { type: "agent_start", turnId, modeId, modelId, resumed: true, ...takeover };
    return { events: [...interrupted(draft, turnId), start] };
  });
  if (!isDue(driver.state)) await driver.release();
}

function park(driver: Driver, why: string): Promise<void> {
  return driver.append((state) => parked(state, why));
}

export function parked({ turn, parked: already, foreign }: ThreadState, why: string): Proposal | null {
  if (!turn || already || foreign) return null;
  const message = `Parked: ${why}. Look at the last messages, then resume the turn, or abort it.`;
  const { turnId } = turn;
  return { events: [{ type: "error", turnId, code: "PARKED", message, retryable: true, parked: true }], release: true };
}

async function begin(driver: Driver): Promise<void> {
  const { modes, ids } = driver.ports;
  driver.newTurn();
  await driver.append((state) => {
    if (!modes.canAct(state)) return null;
    const mode = modes.current(state.control);
    const modelId = modes.modelId(state.control, mode);
    return beginTurn(state, { modeId: mode.id, modelId }, { ids, force: driver.force });
  });
  if (!driver.state.turn) await driver.release();
}

/** Begins the turn of a retry that was accepted while this driver was running. */
async function beginRetry(driver: Driver): Promise<void> {
  driver.newTurn();
  await driver.append(({ turn }) => {
    if (!turn || turn.begun) return null;
    const { turnId, modeId, modelId } = turn;
    return { events: [{ type: "agent_start", turnId, modeId, modelId, resumed: true }] };
  });
}

/** Does what `compact()` asks for while no step is due. */
async function compact(driver: Driver): Promise<void> {
  if (!driver.ports.modes.canAct(driver.state)) return driver.release();
  // An aborted turn may have ended before the request.
  if (!driver.state.turn) driver.newTurn();
  await fitContext(driver, setupOf(driver));
}

/** A steer that arrived during the last answer still belongs to this turn. */
async function end(driver: Driver): Promise<void> {
  await driver.append((state) => takeSteers(state, driver.ports.ids) ?? endTurn(state, "complete"));
}

/** Calls the model once. The next iteration runs its tool calls. */
async function step(driver: Driver, turn: Turn): Promise<void> {
  const { clock, ids, store } = driver.ports;
  await orAborted(driver.ports.modes.findName(driver.state.control), driver.signal);
  const setup = setupOf(driver);
  // A subagent at its limit is asked once more, without tools, for its report.
  const isLast = driver.state.agent !== null && turn.steps === setup.maxSteps;
  if (turn.steps >= setup.maxSteps && !isLast) return driver.append((state) => endTurn(state, "max_steps"));
  const reachedLimit = () => exhaustedInTree(driver, setup);
  const detail = await reachedLimit();
  if (detail !== null) return overBudget(driver, detail, null);
  await orAborted(driver.sources.refresh(setup), driver.signal);
  const profile = await profileNote(driver, setup);
  await driver.append((state) => enterStep(state, setup, { ids, sources: driver.sources, profile, now: clock.now() }));
  // If the mode or the model was switched meanwhile, the next iteration enters the step again.
  if (setupOf(driver) !== setup) return;
  // Notes may be among what left the prompt: the next iteration repeats them.
  if (await fitContext(driver, setup)) return;
  if (!driver.mayBegin) return;
  if (isLast) await driver.append((state) => askForReport(state, setup.maxSteps, ids));
  driver.journal.live({ type: "step_start", step: turn.steps + 1 });
  const ready = await orAborted(readyToAsk(driver, setup), driver.signal);
  if (!ready) return endAborted(driver, null);
  if (ready.kind === "outdated" || !driver.mayBegin) return;
  if (ready.kind === "failed") return fail(driver, ready.failure, null);
  const { model, head } = ready;
  const recorded = await driver.journal.transcript();
  // Without an observer, the focus would never change again.
  const transcript = driver.ports.memory?.observe ? recorded : withoutFocus(recorded);
  const prompt = await toPrompt(head, transcript, (hash) => store.blob(hash));
  const cached = { model, settings: setup.settings, memoryParts: memoryParts(transcript.memory) };
  const outcome = await ask({
    threadId: driver.journal.id,
    turnId: turn.turnId,
    model,
    ...withBreakpoints({ prompt, tools: head.tools }, cached),
    settings: isLast ? { ...setup.settings, toolChoice: { type: "none" } } : setup.settings,
    signal: driver.signal,
    clock,
    ids,
    live: (event) => driver.journal.live(event),
    emit: (event) => driver.journal.emit(event),
    saveDraft: (pieces) => driver.saveDraft(pieces),
    recordUsage: (usage) => recordUsage(driver, setup, usage),
    exhausted: reachedLimit,
  });
  if (outcome.kind === "answer") {
    driver.hasOverflowed = false;
    return appendAnswer(driver, setup, { ...outcome, isLast });
  }
  if (outcome.kind === "failed") {
    const isTooLong = outcome.failure.code === "CONTEXT_OVERFLOW" && !driver.hasOverflowed;
    driver.hasOverflowed = isTooLong;
    if (isTooLong && (await fitContext(driver, setup, { hasOverflowed: true }))) return;
    return fail(driver, outcome.failure, outcome.partial);
  }
  if (outcome.kind === "exhausted") return overBudget(driver, outcome.detail, outcome.partial);
  return endAborted(driver, outcome.partial);
}

function overBudget(driver: Driver, detail: string, partial: Message | null): Promise<void> {
  return driver.append(
    (state) => state.turn && endTurn(state, "budget", { detail, before: interrupted(partial, state.turn.turnId) }),
  );
}

/** The usage of an answer that is not kept counts too. */
function recordUsage(driver: Driver, setup: Setup, usage: Usage): Promise<void> {
  return driver.append(({ turn }) => {
    if (!turn || tokensOf(usage) === 0) return null;
    return { events: [{ ...usageOf(driver, setup, usage), turnId: turn.turnId, failed: true }] };
  });
}

function usageOf(driver: Driver, { modelId }: Setup, usage: Usage): NewEvent<"usage_update"> {
  const cachedShare = usage.inputTokens > 0 ? usage.cacheReadTokens / usage.inputTokens : 0;
  return { type: "usage_update", usage, cost: driver.ports.costOf(usage, modelId), cachedShare };
}

/**
 * Ends an aborted turn. Descendants stop first, so that nothing runs any more when the turn has ended. A closing driver does not end it:
 * the next driver continues it from the draft.
 */
async function endAborted(driver: Driver, partial: Message | null): Promise<void> {
  await childrenStopped(driver);
  if (!driver.drives) return;
  await driver.append(
    (state) => state.turn && endTurn(state, "aborted", { before: interrupted(partial, state.turn.turnId) }),
  );
}

/** A model that can't be resolved is a failure, like one of the provider. */
async function readyToAsk(driver: Driver, setup: Setup) {
  try {
    const { modelId } = setup;
    if (limitsCostInTree(driver.state, driver.ports, setup.budgets()) && driver.ports.costOf(noUsage, modelId) === null)
      throw unknownPrice(modelId);
    const model = await setup.model();
    // The model could not be resolved before. Now its profile is known.
    if (!setup.isResolved && setupOf(driver) !== setup) return { kind: "outdated" as const };
    return { kind: "ready" as const, model, head: await driver.head(setup) };
  } catch (error) {
    const isInternal = error instanceof LeaseLost || (error instanceof CinchError && error.code !== "INVALID_CONFIG");
    if (isInternal) throw error;
    const code = error instanceof CinchError ? error.code : "PROVIDER_ERROR";
    const message = reasonOf(error);
    return { kind: "failed" as const, failure: { code, message, retryable: false } satisfies ModelFailure };
  }
}

function fail(driver: Driver, { code, message, retryable }: ModelFailure, partial: Message | null): Promise<void> {
  return driver.append((state) => {
    if (!state.turn) return null;
    const { turnId } = state.turn;
    const error: NewEvent = { type: "error", turnId, code, message, retryable };
    return endTurn(state, "error", { before: [...interrupted(partial, turnId), error] });
  });
}

/** Ends the turn because of a bug or a damaged store: to continue would fail again. */
export function giveUp(driver: Driver, error: unknown): Promise<void> {
  const code = error instanceof CinchError ? error.code : "INTERNAL";
  const message = reasonOf(error);
  return fail(driver, { code, message, retryable: false }, null);
}

const interrupted = (message: Message | null, turnId: string): NewEvent[] =>
  message ? [{ type: "message_end", turnId, message, interrupted: true }] : [];

/** Appends the answer together with the starts of its calls. Without calls, the same append ends the turn. */
async function appendAnswer(
  driver: Driver,
  setup: Setup,
  { messageId, answer, isLast }: { messageId: string; answer: Answer; isLast: boolean },
): Promise<void> {
  const { message, blobs } = await messageOf(messageId, answer);
  const calls = await Promise.all(
    callsOf(message).map((call) => {
      const refused = isLast ? "Not run: the limit of steps is reached." : refusal(answer, call.toolCallId);
      return authorize(driver, call, { setup, refused });
    }),
  );
  const { finishReason } = answer;
  const { ids } = driver.ports;
  const used = usageOf(driver, setup, answer.usage);
  const runnable = await driver.append((state) => {
    const { turn } = state;
    if (!turn) return null;
    const { turnId } = turn;
    const answered: NewEvent[] = [
      { type: "message_end", turnId, message, finishReason },
      { ...used, turnId },
    ];
    // The other calls stay requested: the turn is aborted, the harness closes, or the rules have changed and the calls are judged again.
    const starting = driver.signal.aborted || !driver.mayBegin ? [] : calls.filter((call) => isCurrent(call, driver));
    const firstSeq = state.seq + answered.length + 1;
    const starts = starting.map((call, at) =>
      firstEvent(call, { turnId, key: `${driver.journal.id}:${firstSeq + at}` }),
    );
    const events = [...answered, ...starts];
    const after = stateAfter(state, events);
    if (after.turn?.phase !== "done") return { ...afterCall(state, events), blobs, result: runnableOf(starting) };
    events.push(stepEnd(after.turn));
    // The results of calls give the reason. For an answer without calls a note gives it, and the model answers again.
    if (answer.problem !== undefined)
      return { events: [...events, noteMessage({ turnId, text: answer.problem }, ids)], blobs };
    if (state.inbox.some((item) => item.delivery === "steer")) return { events, blobs };
    events.push({ type: "agent_end", turnId, reason: isLast ? "max_steps" : "complete" });
    return { events, blobs, release: !needsDriving(stateAfter(state, events)) };
  });
  driver.runnable.clear();
  driver.addRunnable(runnable);
}

/** The answer as the journal stores it: the bytes of files are blobs. */
async function messageOf(id: string, { content, files }: Answer): Promise<{ message: Message; blobs: Blob[] }> {
  const blobs: Blob[] = [];
  const parts = await Promise.all(
    content.map(async (part, at) => {
      const bytes = files.get(at);
      if (part.type !== "file" || !bytes) return part;
      const copy = new Uint8Array(bytes);
      const hash = await hashOf(copy);
      blobs.push({ hash, bytes: copy });
      return { ...part, blob: hash };
    }),
  );
  return { message: { id, role: "assistant", content: parts }, blobs };
}
