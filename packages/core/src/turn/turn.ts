import { messageOfDraft } from "../thread/draft.ts";
import { exhausted, limitsCost } from "../config/budget.ts";
import { CinchError, reasonOf } from "../errors.ts";
import type { NewEvent } from "../events/event-map.ts";
import { callsOf } from "../folds/call.ts";
import { tokensOf } from "../events/usage.ts";
import { isWaiting } from "../folds/progress.ts";
import type { Turn } from "../folds/state.ts";
import type { ThreadState } from "../folds/state.ts";
import type { Answer } from "../model/answer.ts";
import type { Failure } from "../model/failure.ts";
import { toPrompt } from "../model/prompt.ts";
import { noUsage } from "../events/usage.ts";
import type { Message, Usage } from "../events/message.ts";
import { hashOf } from "../ports/hash.ts";
import { orAborted } from "../ports/clock.ts";
import type { Blob } from "../ports/store.ts";
import { ask } from "./ask-model.ts";
import { runCalls } from "./calls.ts";
import {
  afterCall,
  beginTurn,
  endTurn,
  enterStep,
  hasTrees,
  MAX_TAKEOVERS,
  needsDriving,
  noteMessage,
  preview,
  stepEnd,
  takeSteers,
  waitsForPerson,
  type Proposal,
} from "./decide.ts";
import { LeaseLost, type Driver } from "./driver.ts";
import { authorize, firstEvent, readyOf, refusal, stands } from "./authorize.ts";
import { restoreFiles, settleCommands } from "./restore-files.ts";
import type { Setup } from "./setup.ts";

/**
 * The loop. Advances a thread until nobody but a person can: every turn that the inbox asks for, and whatever a crash cut off.
 * What comes next is read from the journal each time round, so going on after a crash is the same code as going on.
 */
export async function runTurns(driver: Driver): Promise<void> {
  await takeOver(driver);
  const { undo } = driver.ports.workspace ?? {};
  while (driver.drives) {
    const { turn, files } = driver.state;
    if (files.restoring) await (undo ? restoreFiles(driver, undo) : notHere(driver));
    else if (undo && hasTrees(driver.state)) await settleCommands(driver, undo);
    else if (!turn) await begin(driver);
    // The lease comes with the first append. Without one, it is somebody else's turn.
    else if (driver.epoch === undefined) return;
    else if (!driver.ports.modes.canAct(driver.state)) await driver.release();
    else if (turn.aborting) await driver.append((state) => endTurn(state, "aborted"));
    else if (!turn.begun) await beginRetry(driver);
    else if (isWaiting(turn) && !driver.declines) await driver.release();
    else if (turn.phase === "calls")
      await runCalls(driver, await setupOf(driver, driver.ports.modes.modeOfCalls(driver.state)));
    else if (turn.declined) await driver.append((state) => endTurn(state, "declined"));
    else if (turn.phase === "done") await end(driver);
    else await step(driver, turn);
  }
}

/** Files come first, and they are not here. */
function notHere(driver: Driver): Promise<void> {
  const message =
    "Files have to be taken back before this thread goes on, and this process has no workspace that can do that.";
  driver.journal.live({ type: "info", message });
  return driver.release();
}

/** Who acts in this mode, or in the one that the thread is in now. */
const setupOf = (driver: Driver, modeId?: string): Promise<Setup> =>
  driver.ports.modes.setup(driver.state.control, modeId);

/** Takes over a turn that is under way. What was streaming is kept for readers, and a dead driver counts as a takeover. */
async function takeOver(driver: Driver): Promise<void> {
  const { turn } = driver.state;
  if (!turn) return;
  const { id } = driver.journal;
  if (driver.takeover && driver.state.takeovers >= MAX_TAKEOVERS)
    return park(driver, `${MAX_TAKEOVERS} drivers died here`);
  const draft = messageOfDraft(await driver.ports.store.draft(id));
  // By the time this is decided, somebody else may have driven it to where only a person can go on.
  const isDue = (state: ThreadState) =>
    driver.force || needsDriving(state) || (driver.declines && waitsForPerson(state));
  await driver.append((state) => {
    if (!state.turn || !isDue(state)) return null;
    const { turnId, modeId, modelId, aborting } = state.turn;
    if (aborting) return endTurn(state, "aborted", { before: partial(draft, turnId) });
    if (isWaiting(state.turn) && !driver.declines) return null;
    const takeover = driver.takeover ? { takeover: true } : {};
    const start: NewEvent = { type: "agent_start", turnId, modeId, modelId, resumed: true, ...takeover };
    return { events: [...partial(draft, turnId), start] };
  });
  if (!isDue(driver.state)) await driver.release();
}

/** Stands still, visibly, until somebody calls `resume()`. */
function park(driver: Driver, why: string): Promise<void> {
  return driver.append((state) => parked(state, why));
}

export function parked({ turn, parked: already }: ThreadState, why: string): Proposal | null {
  if (!turn || already) return null;
  const message = `Parked: ${why}. Look at the last messages, then call resume() to go on or abort() to end the turn.`;
  const { turnId } = turn;
  return { events: [{ type: "error", turnId, code: "PARKED", message, retryable: true, parked: true }], release: true };
}

async function begin(driver: Driver): Promise<void> {
  if (!driver.ports.modes.canAct(driver.state)) return driver.release();
  driver.newTurn();
  const { mode, modelId } = await setupOf(driver);
  await driver.append((state) =>
    beginTurn(state, { modeId: mode.id, modelId }, { ids: driver.ports.ids, force: driver.force }),
  );
  if (!driver.state.turn) await driver.release();
}

/** A retry that was accepted while this driver was at work. */
async function beginRetry(driver: Driver): Promise<void> {
  driver.newTurn();
  await driver.append(({ turn }) => {
    if (!turn || turn.begun) return null;
    const { turnId, modeId, modelId } = turn;
    return { events: [{ type: "agent_start", turnId, modeId, modelId, resumed: true }] };
  });
}

/** A steer that came in while the last words were said still belongs to this turn. */
async function end(driver: Driver): Promise<void> {
  await driver.append((state) => takeSteers(state, driver.ports.ids) ?? endTurn(state, "complete"));
}

/** One model call. Its tool calls are seen to the next time round. */
async function step(driver: Driver, turn: Turn): Promise<void> {
  const { clock, ids, store } = driver.ports;
  const setup = await setupOf(driver);
  if (turn.steps >= setup.mode.agent.maxSteps) return driver.append((state) => endTurn(state, "max_steps"));
  const reached = () => exhausted(driver.state, setup.budgets, clock.now());
  const detail = reached();
  if (detail !== null) return overBudget(driver, detail, null);
  await driver.append((state) => enterStep(state, setup, ids));
  // Somebody may have switched the mode or the model in between: then it is another step that is entered.
  if ((await setupOf(driver)) !== setup) return;
  driver.journal.live({ type: "step_start", step: turn.steps + 1 });
  const ready = await orAborted(readyToAsk(driver, setup), driver.signal);
  if (!ready) return stop(driver, null);
  if (ready.kind === "failed") return fail(driver, ready.failure, null);
  const { model, head } = ready;
  const prompt = await toPrompt(head, await driver.journal.transcript(), (hash) => store.blob(hash));
  const outcome = await ask({
    threadId: driver.journal.id,
    turnId: turn.turnId,
    model,
    prompt,
    head,
    settings: setup.settings,
    signal: driver.signal,
    clock,
    ids,
    live: (event) => driver.journal.live(event),
    emit: (event) => driver.journal.emit(event),
    saveDraft: (pieces) => driver.saveDraft(pieces),
    spend: (usage) => spend(driver, setup, usage),
    exhausted: reached,
  });
  if (outcome.kind === "answer") return accept(driver, setup, outcome);
  if (outcome.kind === "failed") return fail(driver, outcome.failure, outcome.partial);
  if (outcome.kind === "exhausted") return overBudget(driver, outcome.detail, outcome.partial);
  return stop(driver, outcome.partial);
}

function overBudget(driver: Driver, detail: string, said: Message | null): Promise<void> {
  return driver.append(
    (state) => state.turn && endTurn(state, "budget", { detail, before: partial(said, state.turn.turnId) }),
  );
}

/** What an answer took that is not kept counts all the same. */
function spend(driver: Driver, setup: Setup, usage: Usage): Promise<void> {
  return driver.append(({ turn }) => {
    if (!turn || tokensOf(usage) === 0) return null;
    return { events: [{ ...usageOf(driver, setup, usage), turnId: turn.turnId, failed: true }] };
  });
}

function usageOf(driver: Driver, { modelId }: Setup, usage: Usage): NewEvent<"usage_update"> {
  const cachedShare = usage.inputTokens > 0 ? usage.cacheReadTokens / usage.inputTokens : 0;
  return { type: "usage_update", usage, cost: driver.ports.costOf(usage, modelId), cachedShare };
}

/** Aborted by the user; or this driver is closing, and then the draft is all that is left behind. */
async function stop(driver: Driver, said: Message | null): Promise<void> {
  if (!driver.drives) return;
  await driver.append((state) => state.turn && endTurn(state, "aborted", { before: partial(said, state.turn.turnId) }));
}

/** A model that can't be had is a failure like one of the provider's. */
async function readyToAsk(driver: Driver, setup: Setup) {
  try {
    const { modelId } = setup;
    if (limitsCost(setup.budgets) && driver.ports.costOf(noUsage, modelId) === null)
      throw new CinchError(
        "INVALID_CONFIG",
        `The budget has a cost, but no price of "${modelId}" is known. Add it to prices.`,
      );
    return { kind: "ready" as const, model: await setup.model(), head: await driver.head(setup) };
  } catch (error) {
    const isOurs = error instanceof LeaseLost || (error instanceof CinchError && error.code !== "INVALID_CONFIG");
    if (isOurs) throw error;
    const code = error instanceof CinchError ? error.code : "PROVIDER_ERROR";
    const message = reasonOf(error);
    return { kind: "failed" as const, failure: { code, message, retryable: false } satisfies Failure };
  }
}

function fail(driver: Driver, { code, message, retryable }: Failure, said: Message | null): Promise<void> {
  return driver.append((state) => {
    if (!state.turn) return null;
    const { turnId } = state.turn;
    const error: NewEvent = { type: "error", turnId, code, message, retryable };
    return endTurn(state, "error", { before: [...partial(said, turnId), error] });
  });
}

/** Ends the turn for a reason that lies with us: a bug, or a store that has lost something. Going on would only meet it again. */
export function giveUp(driver: Driver, error: unknown): Promise<void> {
  const code = error instanceof CinchError ? error.code : "INTERNAL";
  const message = reasonOf(error);
  return fail(driver, { code, message, retryable: false }, null);
}

const interrupted = (message: Message, turnId: string): NewEvent => ({
  type: "message_end",
  turnId,
  message,
  interrupted: true,
});
const partial = (said: Message | null, turnId: string): NewEvent[] => (said ? [interrupted(said, turnId)] : []);

/** Writes the answer down, and with it that its calls begin. If there are none, the turn ends in the same append. */
async function accept(
  driver: Driver,
  setup: Setup,
  { messageId, answer }: { messageId: string; answer: Answer },
): Promise<void> {
  const { message, blobs } = await messageOf(messageId, answer);
  const calls = await Promise.all(
    callsOf(message).map((call) => authorize(driver, call, { setup, refused: refusal(answer, call.toolCallId) })),
  );
  const { finishReason } = answer;
  const { ids } = driver.ports;
  const used = usageOf(driver, setup, answer.usage);
  const ready = await driver.append((state) => {
    const { turn } = state;
    if (!turn) return null;
    const { turnId } = turn;
    const said: NewEvent[] = [
      { type: "message_end", turnId, message, finishReason },
      { ...used, turnId },
    ];
    // After an abort no call begins; and a call that was judged by rules which have changed since is judged again. Both stay requested.
    const starting = driver.signal.aborted ? [] : calls.filter((call) => stands(call, state));
    const firstSeq = state.seq + said.length + 1;
    const begun = starting.map((call, at) =>
      firstEvent(call, { turnId, key: `${driver.journal.id}:${firstSeq + at}` }),
    );
    const events = [...said, ...begun];
    const after = preview(state, events);
    if (after.turn?.phase !== "done") return { ...afterCall(state, events), blobs, result: readyOf(starting) };
    events.push(stepEnd(after.turn));
    // Calls give the reason in their results. For an answer without calls a note gives it, and the model answers again.
    if (answer.problem !== undefined)
      return { events: [...events, noteMessage({ turnId, text: answer.problem }, ids)], blobs };
    if (state.inbox.some((item) => item.delivery === "steer")) return { events, blobs };
    events.push({ type: "agent_end", turnId, reason: "complete" });
    return { events, blobs, release: !needsDriving(preview(state, events)) };
  });
  driver.ready.clear();
  for (const [toolCallId, one] of ready ?? []) driver.ready.set(toolCallId, one);
}

/** The answer as the journal keeps it: bytes of files apart, under their hash. */
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
