import type { NewEvent } from "../events/event-map.ts";
import type { Call } from "../folds/call.ts";
import type { ThreadState } from "../folds/state.ts";
import type { ToolResult } from "../events/message.ts";
import { CallFiles } from "./call-files.ts";
import { CallState } from "./call-state.ts";
import { runCall, type CallOutcome } from "./run-call.ts";
import { afterCall, endTurn, notDone } from "./decide.ts";
import type { Driver } from "./driver.ts";
import { authorize, firstEvent, NO_ANSWER, readyOf, stands } from "./authorize.ts";
import { clip, failed } from "./tool-result.ts";
import type { Setup } from "./setup.ts";

/**
 * Sees to the calls of the newest answer until all have ended, or those that have not wait for a person. Calls run in parallel;
 * an answer that comes in for one of them starts it again while the others still run.
 */
export async function runCalls(driver: Driver, setup: Setup): Promise<void> {
  await reportCut(driver);
  const running = new Map<string, Promise<void>>();
  try {
    await seeToCalls(driver, setup, running);
  } catch (error) {
    driver.abortTurn();
    throw error;
  } finally {
    // Nothing is left behind that nobody waits for.
    await Promise.all(running.values());
  }
  // Declined without a word: what ran beside it is done, and what still waits is settled with the turn.
  const over = driver.drives && !driver.signal.aborted && driver.state.turn?.declined;
  if (over) await driver.append((state) => endTurn(state, "declined"));
}

async function seeToCalls(driver: Driver, setup: Setup, running: Map<string, Promise<void>>): Promise<void> {
  const failures: unknown[] = [];
  while (driver.drives) {
    // Taken before anything is looked at: what changes while calls are judged must not be missed.
    const changed = driver.journal.changed();
    await startRequested(driver, setup, running);
    for (const call of driver.state.turn?.calls ?? []) {
      const runs = call.state === "started" && driver.ready.has(call.toolCallId);
      if (!runs || running.has(call.toolCallId) || driver.signal.aborted) continue;
      const run = runOne(driver, call).catch((error: unknown) => {
        failures.push(error);
        driver.abortTurn();
      });
      running.set(
        call.toolCallId,
        run.finally(() => running.delete(call.toolCallId)),
      );
    }
    if (running.size === 0) break;
    await Promise.race([...running.values(), changed]);
  }
  await Promise.all(running.values());
  if (failures.length > 0) throw failures[0];
}

/** Calls that a dead driver started, and that must not be run again without anybody knowing. */
async function reportCut(driver: Driver): Promise<void> {
  const content = "The process died while this ran. Its outcome is unknown: verify before retrying.";
  await driver.append((state) => {
    const cut = (state.turn?.calls ?? []).filter((call) => isCut(driver, call) && call.effect === "once");
    if (!state.turn || cut.length === 0) return null;
    const { turnId } = state.turn;
    const ends = cut.map((call) => notDone(call, { turnId, content, unknown: true }));
    return afterCall(state, ends);
  });
}

const isCut = (driver: Driver, call: Call): boolean => call.state === "started" && !driver.ready.has(call.toolCallId);

/** Calls that were asked for and not begun, those that somebody has answered, and those that a crash cut off and may run again. */
async function startRequested(driver: Driver, setup: Setup, running: ReadonlyMap<string, unknown>): Promise<void> {
  const { turn: open } = driver.state;
  const isDue = (call: Call): boolean => {
    if (running.has(call.toolCallId) || driver.ports.modes.isLeft(driver.state, call)) return false;
    if (open?.declined) return call.state === "declined";
    return DUE.has(call.state) || isCut(driver, call) || (driver.declines && WAITS.has(call.state));
  };
  const calls = (open?.calls ?? []).filter(isDue);
  if (calls.length === 0 || driver.signal.aborted) return;
  const stateOf = new Map(calls.map(({ toolCallId, state }) => [toolCallId, state]));
  const authorized = await Promise.all(calls.map((call) => authorize(driver, call, { setup })));
  for (const { toolCallId } of authorized) driver.ready.delete(toolCallId);
  const ready = await driver.append((state) => {
    const { turn } = state;
    if (!turn || driver.signal.aborted) return null;
    const { turnId } = turn;
    const known = new Map(turn.calls.map((call) => [call.toolCallId, call]));
    // Calls that were judged by rules which have changed since are judged again, the next time round.
    const begin = authorized.filter((call) => {
      const { state: now } = known.get(call.toolCallId) ?? {};
      // A person may have answered before the driver that was to decline the call.
      const isAsJudged = now === stateOf.get(call.toolCallId);
      return stands(call, state) && isAsJudged && (!turn.declined || now === "declined");
    });
    if (begin.length === 0) return null;
    const events = begin.map((call, at) => {
      const key = known.get(call.toolCallId)?.key ?? `${driver.journal.id}:${state.seq + at + 1}`;
      return firstEvent(call, { turnId, key });
    });
    return { ...afterCall(state, events), result: readyOf(begin) };
  });
  for (const [toolCallId, one] of ready ?? []) driver.ready.set(toolCallId, one);
}

const DUE: ReadonlySet<Call["state"]> = new Set(["requested", "resumed", "declined"]);

/** Calls that only a person can go on with. */
const WAITS: ReadonlySet<Call["state"]> = new Set(["asking", "suspended"]);

async function runOne(driver: Driver, call: Call): Promise<void> {
  const { clock } = driver.ports;
  const { toolCallId, toolName } = call;
  const startedAt = clock.now();
  const files = new CallFiles(driver, { toolCallId, toolName });
  const own = new CallState(driver.ports.shape, () => driver.state.control);
  const ran = await effect(driver, call, { files, state: own });
  const outcome = ran.kind === "suspended" && driver.ports.modes.declines ? failed(NO_ANSWER) : ran;
  // Closing: whoever goes on with the turn finds a call that was stopped as it is, begun and not ended. What is done is kept.
  if (!driver.drives && !isDone(outcome)) return;
  await driver.append((state) => {
    if (!state.turn) return null;
    const { turnId } = state.turn;
    const { events: changes, problem } = own.settle(state);
    const over = problem === null ? outcome : unchanged(outcome, problem);
    if (over.kind === "suspended") {
      const asked = { toolCallId, toolName, args: call.input, suspendPayload: over.payload };
      return afterCall(state, [...changes, { type: "tool_suspended", turnId, ...asked }]);
    }
    const { result, isError, events } = settled(over, state);
    const unknown = over.kind === "ended" && over.unknown ? { unknown: true } : {};
    const durationMs = Math.max(0, clock.now() - startedAt);
    const told = { result: withRemarks(result, call), isError, ...unknown, durationMs, ...files.reads };
    const end: NewEvent = { type: "tool_end", turnId, toolCallId, toolName, ...told };
    const decision = afterCall(state, [...changes, ...events, end]);
    return over.kind === "ended" ? { ...decision, blobs: over.blobs } : decision;
  });
}

/** An error may be no more than that the tool was stopped. */
const isDone = (outcome: CallOutcome): boolean => outcome.kind !== "ended" || !outcome.isError;

/** The call is done, and only its change of the state was refused: the model has to hear of both. */
function unchanged(outcome: CallOutcome, problem: string): CallOutcome {
  const note = `The call ran, but the state of the thread was not changed: ${problem}`;
  if (outcome.kind !== "ended") return failed(note);
  const { content } = outcome.result;
  const told =
    typeof content === "string" ? `${note}\n\n${content}` : [{ type: "text" as const, text: note }, ...content];
  return { ...outcome, isError: true, result: { ...outcome.result, content: told } };
}

type Over = Exclude<CallOutcome, { kind: "suspended" }>;

/** What a tool gave back, with the events of those that write some. */
function settled(outcome: Over, state: ThreadState): { result: ToolResult; isError: boolean; events: NewEvent[] } {
  if (outcome.kind === "ended") return { result: outcome.result, isError: outcome.isError, events: [] };
  const { content, details, events = [] } = outcome.settle(state);
  return { result: { content: clip(content), ...(details === undefined ? {} : { details }) }, isError: false, events };
}

/** What a person did to the call, for the model to know. */
function withRemarks(result: ToolResult, { edited, input, remark }: Call): ToolResult {
  const remarks = [
    ...(edited ? [`The user changed the arguments before it ran: ${JSON.stringify(input)}`] : []),
    ...(remark === null ? [] : [`The user says: ${remark}`]),
  ];
  if (remarks.length === 0) return result;
  const note = `[${remarks.join("\n")}]`;
  if (typeof result.content === "string") return { ...result, content: `${note}\n${result.content}` };
  return { ...result, content: [{ type: "text", text: note }, ...result.content] };
}

/** The one place where a tool is run: only what was prepared, and only under a lease that stands. */
async function effect(driver: Driver, call: Call, parts: { files: CallFiles; state: CallState }): Promise<CallOutcome> {
  const { toolCallId, toolName, key } = call;
  const prepared = driver.ready.get(toolCallId);
  await driver.confirm();
  if (!prepared || driver.signal.aborted) return failed("Not run: the turn was aborted.");
  driver.ready.delete(toolCallId);
  return runCall({
    ...prepared,
    key: key ?? "",
    threadId: driver.journal.id,
    resourceId: driver.state.resourceId,
    toolCallId,
    signal: driver.signal,
    clock: driver.ports.clock,
    workspace: driver.ports.workspace,
    ...parts,
    emit: (partialResult) => driver.journal.live({ type: "tool_update", toolCallId, toolName, partialResult }),
  });
}
