import type { NewEvent } from "../events/event-map.ts";
import { editedArgs, type Call } from "../folds/call.ts";
import { asksPerson } from "../folds/open-call.ts";
import type { ThreadState } from "../folds/state.ts";
import type { ToolResult } from "../events/message.ts";
import { CallFiles } from "./call-files.ts";
import { CallSkills } from "./call-skills.ts";
import { CallState } from "./call-state.ts";
import { withTimeout } from "../ports/clock.ts";
import type { Store } from "../ports/store.ts";
import type { ControlHost } from "../tools/control/host.ts";
import { historyOf } from "../queries/thread-history.ts";
import { runCall, type CallOutcome } from "./run-call.ts";
import { afterCall, DECLINED, endTurn, endWithoutResult, notRun } from "./decide.ts";
import type { Driver } from "./driver.ts";
import { hasStarted } from "./ended-run.ts";
import { authorize, firstEvent, isCurrent, NO_ANSWER, runnableOf } from "./authorize.ts";
import { failed } from "./tool-result.ts";
import type { Setup } from "./setup.ts";

/**
 * Runs the calls of the newest answer, in parallel, until each has ended or waits for a person. A call that is answered runs again
 * while the others still run.
 */
export async function runCalls(driver: Driver, setup: Setup): Promise<void> {
  await endInterrupted(driver);
  const running = new Map<string, Promise<void>>();
  try {
    await runAll(driver, setup, running);
  } catch (error) {
    driver.abortTurn();
    throw error;
  } finally {
    await Promise.all(running.values());
  }
  // A decline without a message ends the turn once no call runs. `endTurn` ends the calls that wait.
  const mustEnd = driver.drives && !driver.signal.aborted && driver.state.turn?.endsAfterCalls;
  if (mustEnd) await driver.append((state) => endTurn(state, "declined"));
}

async function runAll(driver: Driver, setup: Setup, running: Map<string, Promise<void>>): Promise<void> {
  const failures: unknown[] = [];
  while (driver.drives) {
    // Subscribed before the state is read, so that no event is missed while calls are judged.
    const changed = driver.journal.changed();
    await startDue(driver, setup, running);
    for (const call of driver.state.turn?.calls ?? []) {
      const canRun = call.state === "started" && driver.runnable.has(call.toolCallId);
      if (!canRun || running.has(call.toolCallId) || driver.signal.aborted || !driver.mayBegin) continue;
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

/** Ends the calls that a dead driver started and that must not run again. The model gets the result that the outcome is unknown. */
async function endInterrupted(driver: Driver): Promise<void> {
  const content = "The process died while this ran. Its outcome is unknown: verify before retrying.";
  await driver.append((state) => {
    const calls = (state.turn?.calls ?? []).filter((call) => isInterrupted(driver, call) && call.effect === "once");
    if (!state.turn || calls.length === 0) return null;
    const { turnId } = state.turn;
    const ends = calls.map((call) => endWithoutResult(call, { turnId, content, unknown: true }));
    return afterCall(state, ends);
  });
}

const isInterrupted = (driver: Driver, call: Call): boolean =>
  call.state === "started" && !driver.runnable.has(call.toolCallId);

/** Judges and starts the calls that are requested, that were answered, or that a crash interrupted and that may run again. */
async function startDue(driver: Driver, setup: Setup, running: ReadonlyMap<string, unknown>): Promise<void> {
  const { turn: current } = driver.state;
  const isDue = (call: Call): boolean => {
    if (running.has(call.toolCallId) || driver.ports.modes.lacksTool(driver.state, call)) return false;
    if (current?.endsAfterCalls) return call.state === "declined";
    return STARTABLE.has(call.state) || isInterrupted(driver, call) || (driver.declinesQuestions && asksPerson(call));
  };
  const calls = (current?.calls ?? []).filter(isDue);
  if (calls.length === 0 || driver.signal.aborted) return;
  const judgedStates = new Map(calls.map(({ toolCallId, state }) => [toolCallId, state]));
  const authorized = await Promise.all(calls.map((call) => authorize(driver, call, { setup })));
  for (const { toolCallId } of authorized) driver.runnable.delete(toolCallId);
  const runnable = await driver.append((state) => {
    const { turn } = state;
    if (!turn || driver.signal.aborted || !driver.mayBegin) return null;
    const { turnId } = turn;
    const known = new Map(turn.calls.map((call) => [call.toolCallId, call]));
    // The other calls are judged again in the next iteration: the rules have changed, or a person has answered meanwhile.
    const starting = authorized.filter((call) => {
      const { state: now } = known.get(call.toolCallId) ?? {};
      const isAsJudged = now === judgedStates.get(call.toolCallId);
      return isCurrent(call, driver) && isAsJudged && (!turn.endsAfterCalls || now === "declined");
    });
    if (starting.length === 0) return null;
    const events = starting.map((call, at) => {
      const key = known.get(call.toolCallId)?.key ?? `${driver.journal.id}:${state.seq + at + 1}`;
      return firstEvent(call, { turnId, key });
    });
    return { ...afterCall(state, events), result: runnableOf(starting) };
  });
  driver.addRunnable(runnable);
}

const STARTABLE: ReadonlySet<Call["state"]> = new Set(["requested", "resumed", "declined"]);

async function runOne(driver: Driver, call: Call): Promise<void> {
  const { clock } = driver.ports;
  const { toolCallId, toolName } = call;
  const startedAt = clock.now();
  const files = new CallFiles(driver, { toolCallId, toolName });
  const callState = new CallState(driver.ports.shape, () => driver.state.control);
  const skills = new CallSkills();
  const ran = await execute(driver, call, { files, state: callState, skills });
  const outcome =
    ran.kind === "suspended" && !ran.forChildren && driver.ports.modes.declinesQuestions
      ? failed(NO_ANSWER, { code: DECLINED })
      : ran;
  await skills.settle();
  // A closing driver records what is done. The next driver treats a stopped call as one that a crash interrupted.
  if (!driver.drives && !isDone(outcome)) return;
  await driver.append((state) => {
    if (!state.turn) return null;
    const { turnId } = state.turn;
    const { events: changes, problem } = callState.settle(state);
    const final = problem === null ? outcome : withoutStateChange(outcome, problem);
    if (final.kind === "suspended") {
      const about = { toolCallId, toolName, args: call.args, suspendPayload: final.payload };
      const question = final.forChildren ? { ...about, forChildren: true } : about;
      return afterCall(state, [...changes, { type: "tool_suspended", turnId, ...question }]);
    }
    const settled = resultOf(final, state);
    if (settled.result === null) return afterCall(state, [...changes, ...settled.events]);
    const { result, isError, events } = settled;
    const unknown = final.kind === "ended" && final.unknown ? { unknown: true } : {};
    const durationMs = Math.max(0, clock.now() - startedAt);
    const shown = { result: withRemarks(result, call), isError, ...unknown, durationMs, ...editedArgs(call) };
    const fields = { ...shown, ...files.reads };
    const end: NewEvent = { type: "tool_end", turnId, toolCallId, toolName, ...fields };
    const loaded = isError ? [] : skills.events(turnId);
    const decision = afterCall(state, [...changes, ...events, ...loaded, end]);
    const blobs = [...(final.kind === "ended" ? final.blobs : []), ...(isError ? [] : skills.blobs)];
    return blobs.length > 0 ? { ...decision, blobs } : decision;
  });
}

/** An error may mean only that the tool was stopped. */
const isDone = (outcome: CallOutcome): boolean => outcome.kind !== "ended" || !outcome.isError;

/** Tells the model that the call ran, and that its change of the state was refused. */
function withoutStateChange(outcome: CallOutcome, problem: string): CallOutcome {
  const note = `The call ran, but the state of the thread was not changed: ${problem}`;
  if (outcome.kind !== "ended") return failed(note);
  const { content } = outcome.result;
  const withNote =
    typeof content === "string" ? `${note}\n\n${content}` : [{ type: "text" as const, text: note }, ...content];
  return { ...outcome, isError: true, result: { ...outcome.result, content: withNote } };
}

type FinalOutcome = Exclude<CallOutcome, { kind: "suspended" }>;

/** The result of a tool, with the events that a control tool appends. */
function resultOf(
  outcome: FinalOutcome,
  state: ThreadState,
): { result: ToolResult | null; isError: boolean; events: NewEvent[] } {
  if (outcome.kind === "ended") return { result: outcome.result, isError: outcome.isError, events: [] };
  const { content, details, isError = false, events = [] } = outcome.settle(state);
  if (content === null) return { result: null, isError: false, events };
  return {
    result: { content: content.toWellFormed(), ...(details === undefined ? {} : { details }) },
    isError,
    events,
  };
}

/** Tells the model what a person changed in the call or said about it. */
function withRemarks(result: ToolResult, { edited, args, remark }: Call): ToolResult {
  const remarks = [
    ...(edited ? [`The user changed the arguments before it ran: ${JSON.stringify(args)}`] : []),
    ...(remark === null ? [] : [`The user says: ${remark}`]),
  ];
  if (remarks.length === 0) return result;
  const note = `[${remarks.join("\n")}]`;
  if (typeof result.content === "string") return { ...result, content: `${note}\n${result.content}` };
  return { ...result, content: [{ type: "text", text: note }, ...result.content] };
}

/** The only place where a tool runs: only an authorized call, and only under a valid lease. */
async function execute(
  driver: Driver,
  call: Call,
  parts: { files: CallFiles; state: CallState; skills: CallSkills },
): Promise<CallOutcome> {
  const { toolCallId, toolName, key } = call;
  const runnable = driver.runnable.get(toolCallId);
  const isPermitted = !runnable?.isStillPermitted || (await runnable.isStillPermitted());
  // Last: while the rules are read, the store may be away, another process may take over, and a person may abort.
  await driver.confirm();
  if (!runnable || driver.signal.aborted) return failed(notRun("aborted"));
  driver.runnable.delete(toolCallId);
  if (!isPermitted) return failed("Denied: the rules have changed since the call was permitted.");
  const thread = { threadId: driver.journal.id, resourceId: driver.state.resourceId };
  return runCall({
    ...runnable,
    ...thread,
    key: key ?? "",
    history: historyOf(driver.ports.store, thread),
    toolCallId,
    signal: driver.signal,
    clock: driver.ports.clock,
    workspace: driver.ports.workspace,
    host: hostFor(driver),
    ...parts,
    emit: (partialResult) => driver.journal.live({ type: "tool_update", toolCallId, toolName, partialResult }),
  });
}

const UNTIL_MS = 2_000;

function hostFor(driver: Driver): ControlHost {
  const { journal, ports } = driver;
  const { store, threads, clock } = ports;
  const read = (threadId: string, range: Parameters<Store["read"]>[1]) =>
    driver.askStore(() => store.read(threadId, range));
  return {
    get state() {
      return journal.state;
    },
    keepForFork: (runId) => journal.keepForFork(runId),
    event: async (seq) => (await read(journal.id, { after: seq - 1, upTo: seq }))[0],
    record: (threadId) => driver.askStore(() => store.thread(threadId)),
    lastSeq: async (threadId) => (await read(threadId, { limit: 1, last: true }))[0]?.seq ?? 0,
    hasStarted: (run) => driver.askStore(() => hasStarted(store, run)),
    isWaiting: (threadId) => threads.opened(threadId)?.display.status === "waiting",
    now: () => clock.now(),
    until: async (condition) => {
      const end = clock.now() + UNTIL_MS;
      while (!condition(journal.state) && clock.now() < end) await withTimeout(clock, journal.changed(), { ms: 50 });
    },
    visit: (threadId, work) => driver.askStore(() => threads.visit(threadId, work)),
  };
}
