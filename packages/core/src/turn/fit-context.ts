import { CinchError, reasonOf } from "../errors.ts";
import type { CompactionReason, SeqRange } from "../events/context-events.ts";
import type { NewEvent } from "../events/event-map.ts";
import { estimateOf } from "../folds/context.ts";
import { isWaiting } from "../folds/progress.ts";
import type { ThreadState } from "../folds/state.ts";
import { tokensOfText } from "../folds/tokens.ts";
import { trieGet } from "../folds/trie.ts";
import { hashOf } from "../ports/hash.ts";
import { orAborted, withTimeout } from "../ports/clock.ts";
import type { ContextPlan, ContextView, Cut, Memory, MemoryJob } from "../ports/memory.ts";
import { checkPlan } from "./check-plan.ts";
import { contextView, leftAfter } from "./context-view.ts";
import { needsDriving, stateAfter } from "./decide.ts";
import type { Driver } from "./driver.ts";
import { asFailure, MemoryWork, type WorkFailure } from "./memory-work.ts";
import { shareObservations } from "./resource-memory.ts";
import type { Setup } from "./setup.ts";
import { exhaustedInTree } from "./tree-budget.ts";

/** A summary that takes longer is abandoned. */
const SUMMARY_MS = 60_000;
/** How often a summary is asked for again if its model refuses the request as too long. */
const SHORTER_REQUESTS = 4;

/**
 * Before a step: lets the memory decide what leaves the prompt, and records it. Starts the memory's work in the background, which the
 * turn does not wait for. Returns whether anything has left the prompt.
 */
export async function fitContext(driver: Driver, setup: Setup, { hasOverflowed = false } = {}): Promise<boolean> {
  const { memory, clock, shape } = driver.ports;
  const { state } = driver;
  if (!memory) {
    if (state.context.requested) await notDone(driver, NO_MEMORY);
    return false;
  }
  const transcript = await driver.journal.transcript();
  const settings = shape.settings(trieGet(state.control.values, "om"));
  const { modelId, window } = setup;
  const moment = { threadId: driver.journal.id, modelId, window, now: clock.now(), hasOverflowed, settings };
  const view = contextView(state, transcript, moment);
  const { cut, observe, reflect, limits } = planned(driver, memory, view);
  if (limits)
    driver.journal.live({
      type: "om_status",
      messageTokens: view.messageTokens,
      observationTokens: view.blockTokens,
      messageLimit: limits.messageTokens,
      observationLimit: limits.observationTokens,
    });
  driver.journal.memoryJobs.start({ observe, reflect });
  if (cut) return applyCut(driver, memory, cut);
  if (state.context.requested) await notDone(driver);
  return false;
}

const NO_MEMORY = {
  code: "INVALID_CONFIG",
  message:
    "The process that drives this thread has no memory. Give its harness one, such as summaries() of @cinch/memory.",
};

/** A memory that throws, or that plans what can't be done, must not stop the turn. */
function planned(driver: Driver, memory: Memory, view: ContextView): ContextPlan {
  try {
    const plan = memory.plan(view);
    checkPlan(plan, view);
    return plan;
  } catch (error) {
    driver.journal.live({ type: "info", message: `The memory could not plan: ${reasonOf(error)}` });
    return { cut: null, observe: null, reflect: null };
  }
}

async function applyCut(driver: Driver, memory: Memory, cut: Cut): Promise<boolean> {
  switch (cut.kind) {
    case "activate":
      return activateAndShare(driver, cut);
    case "leave_out":
      return replace(driver, { range: cut.range, reason: cut.reason, text: null });
    case "summarise":
      return summarise(driver, memory, cut);
  }
}

/** Appends the event unless the memory has changed since it was planned. */
async function appendCut(
  driver: Driver,
  { toSeq, reason }: { toSeq: number; reason: CompactionReason },
  eventOf: (
    left: ReturnType<typeof leftAfter>,
    state: ThreadState,
  ) => { events: NewEvent[]; blobs?: { hash: string; bytes: Uint8Array }[] } | null,
): Promise<boolean> {
  const transcript = await driver.journal.transcript();
  const { context } = driver.state;
  const { memory: before, ratio } = context;
  const estimated = driver.ports.modes.setup(driver.state.control).window / ratio;
  // The prompt was refused, so the window is smaller than it, whatever is configured.
  const window = reason === "overflow" ? Math.min(estimated, estimateOf(context)) : estimated;
  const isAppended = await driver.append((state) => {
    if (state.context.memory !== before) return null;
    const proposal = eventOf(leftAfter(transcript, { toSeq, window, reason }), state);
    return proposal && { ...proposal, release: !needsDriving(stateAfter(state, proposal.events)), result: true };
  });
  return isAppended ?? false;
}

function activate(driver: Driver, toSeq: number, reason: CompactionReason): Promise<boolean> {
  const { turn, context } = driver.state;
  const { coveredSeq, reflection } = context.memory;
  return appendCut(driver, { toSeq, reason }, (left) => ({
    events: [
      {
        type: "om_activation",
        ...(turn ? { turnId: turn.turnId } : {}),
        range: [coveredSeq + 1, toSeq],
        ...left,
        ...(reflection ? { reflected: true } : {}),
        reason,
      },
    ],
  }));
}

/** What other threads of the resource learn must not stop this one. */
async function activateAndShare(driver: Driver, { toSeq, reason }: Cut & { kind: "activate" }): Promise<boolean> {
  // A process that died may have activated some of these and not shared them, and a reflection may replace them now.
  const { blocks } = driver.state.context.memory;
  if (!(await activate(driver, toSeq, reason))) return false;
  const added = driver.state.context.memory.blocks.filter((block) => !blocks.includes(block));
  try {
    await shareObservations(driver, [...blocks, ...added]);
  } catch (error) {
    driver.journal.live({ type: "info", message: `Observations could not be shared: ${reasonOf(error)}` });
  }
  return true;
}

interface Replacement {
  range: SeqRange;
  reason: CompactionReason;
  /** `null`: the range is left out. */
  text: string | null;
  before?: NewEvent[];
  /** Whether it is still what was asked for. */
  isCurrent?: (state: ThreadState) => boolean;
}

async function replace(
  driver: Driver,
  { range, reason, text, before = [], isCurrent = () => true }: Replacement,
): Promise<boolean> {
  const bytes = new TextEncoder().encode(text ?? "");
  const hash = text === null ? null : await hashOf(bytes);
  const { turn } = driver.state;
  const blobs = hash === null ? {} : { blobs: [{ hash, bytes }] };
  return appendCut(driver, { toSeq: range[1], reason }, (left, state) => {
    if (!isCurrent(state)) return null;
    const summarised: NewEvent = {
      type: "context_summarised",
      ...(turn ? { turnId: turn.turnId } : {}),
      range,
      ...left,
      ...(hash === null ? {} : { blob: hash }),
      tokens: tokensOfText(text ?? ""),
      reason,
    };
    return { events: [...before, summarised], ...blobs };
  });
}

/** A summary that can't be made must not stop the turn: the range is left out. But what a caller asked for is not done by halves. */
async function summarise(driver: Driver, memory: Memory, cut: Cut & { kind: "summarise" }): Promise<boolean> {
  const { range, reason } = cut;
  const { ports, state, journal } = driver;
  const { blocks, coveredSeq } = state.context.memory;
  const instructions = instructionsOf(state);
  const work = new MemoryWork(journal, ports);
  // A request that comes meanwhile may ask for something else.
  const isCurrent = (now: ThreadState) => reason !== "requested" || instructionsOf(now) === instructions;
  const again = async () => {
    await driver.append(() => ({ events: usageOf(work, driver) }));
    return summarise(driver, memory, cut);
  };
  const stop = new AbortController();
  const onAbort = () => stop.abort();
  driver.signal.addEventListener("abort", onAbort, { once: true });
  journal.live({ type: "info", message: "Summarising earlier messages." });
  try {
    await refuseOverBudget(driver);
    const job = await work.job({
      range,
      blocks: blocks.filter((block) => block.range[0] >= range[0]),
      quotesFrom: coveredSeq + 1,
      instructions,
      signal: stop.signal,
    });
    // The window is smaller than the prompt that was refused, whatever is configured.
    const mostRoom = reason === "overflow" ? estimateOf(state.context) / 2 : Infinity;
    const made = summaryOf(memory, { job, work, mostRoom });
    const text = await withTimeout(ports.clock, orAborted(made, driver.signal), { ms: SUMMARY_MS });
    if (text === null) return false;
    if (text === undefined) throw new Error(`There was no summary within ${SUMMARY_MS / 1000} s.`);
    if (!isCurrent(driver.state)) return await again();
    if (!(await isShorter(driver, range, text))) {
      if (reason === "requested") return await notDone(driver, undefined, work);
      throw new Error("The summary is not shorter than what it stands for.");
    }
    const isDone = await replace(driver, { range, reason, text, before: usageOf(work, driver), isCurrent });
    return isDone || isCurrent(driver.state) ? isDone : await again();
  } catch (error) {
    if (driver.signal.aborted || !driver.drives) return false;
    const failure = asFailure(error);
    journal.live({ type: "info", message: `Earlier messages could not be summarised: ${failure.message}` });
    if (reason === "requested") return notDone(driver, failure, work);
    return replace(driver, { range, reason, text: null, before: usageOf(work, driver) });
  } finally {
    stop.abort();
    driver.signal.removeEventListener("abort", onAbort);
  }
}

/** If the request is too long for its model, whose window may be unknown, asks again with half of what was asked. */
async function summaryOf(
  memory: Memory,
  { job, work, mostRoom }: { job: MemoryJob; work: MemoryWork; mostRoom: number },
): Promise<string> {
  let most = mostRoom;
  for (let again = 0; ; again++) {
    const limited = (room: number) => Math.floor(Math.min(room, most));
    try {
      return await memory.summarise({
        ...job,
        room: limited(job.room),
        roomOf: (model) => limited(job.roomOf(model)),
      });
    } catch (error) {
      const isTooLong = asFailure(error).code === "CONTEXT_OVERFLOW";
      if (!isTooLong || again === SHORTER_REQUESTS || job.signal.aborted) throw error;
      most = Math.min(limited(job.room), work.askedTokens) / 2;
    }
  }
}

const instructionsOf = ({ context }: ThreadState): string => context.requested?.instructions ?? "";

/** A step has checked the budget. Between turns, and while one waits, nothing else does. */
async function refuseOverBudget(driver: Driver): Promise<void> {
  const { state, ports } = driver;
  if (state.turn && !isWaiting(state.turn)) return;
  const limit = await exhaustedInTree(driver, ports.modes.setup(state.control));
  if (limit !== null)
    throw new CinchError("INVALID_INPUT", `The budget is used up: ${limit}. Raise it to compact this thread.`);
}

/** Whether the prompt gets shorter if the text takes the place of the range. */
async function isShorter({ journal, state }: Driver, [from, to]: SeqRange, text: string): Promise<boolean> {
  const blocks = state.context.memory.blocks.filter(({ range }) => range[0] >= from);
  let { body } = await journal.transcript();
  while (body && body.seq > to) body = body.before;
  return tokensOfText(text) < blocks.reduce((sum, { tokens }) => sum + tokens, body?.tokens ?? 0);
}

function usageOf({ usage, cost }: MemoryWork, { state }: Driver): NewEvent[] {
  if (usage.inputTokens + usage.outputTokens === 0) return [];
  const turn = state.turn ? { turnId: state.turn.turnId } : {};
  const cachedShare = usage.inputTokens > 0 ? usage.cacheReadTokens / usage.inputTokens : 0;
  return [{ type: "usage_update", ...turn, usage, cost, cachedShare, source: "summary" }];
}

/** Answers a request without a change. Without `failed`, there was nothing to leave out. */
async function notDone(driver: Driver, failed?: WorkFailure, work?: MemoryWork): Promise<false> {
  await driver.append((state) => {
    if (!state.context.requested) return null;
    const turn = state.turn ? { turnId: state.turn.turnId } : {};
    const nothing = { bodyTokens: 0, by: "", kept: [], keptTokens: 0, tokens: 0 };
    const answer: NewEvent<"context_summarised"> = {
      type: "context_summarised",
      ...turn,
      ...nothing,
      reason: "requested",
    };
    const events = [...(work ? usageOf(work, driver) : []), failed ? { ...answer, failed } : answer];
    return { events, release: !needsDriving(stateAfter(state, events)) };
  });
  return false;
}
