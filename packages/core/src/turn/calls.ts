import type { NewEvent } from "../events.ts";
import type { Call } from "../folds/state.ts";
import type { Answer } from "../model/answer.ts";
import type { Json } from "../message.ts";
import type { NamedTool } from "../tool.ts";
import { failed, runCall, type CallOutcome } from "./call.ts";
import { afterCall, notDone } from "./decide.ts";
import type { Driver } from "./driver.ts";
import { orAborted } from "../ports.ts";
import type { Setup } from "./setup.ts";

interface Asked {
  toolCallId: string;
  toolName: string;
  input: Json;
}

/** A call that may run, or one that can't, and the event that says so. `key` belongs to the `seq` of that event. */
export type Prepared =
  | { kind: "run"; toolCallId: string; tool: NamedTool; input: unknown; event(turnId: string, key: string): NewEvent }
  | { kind: "refuse"; toolCallId: string; event(turnId: string, key: string): NewEvent };

/** Why the calls of this answer can't be trusted, if they can't. */
export function refusal(answer: Answer, toolCallId: string): string | undefined {
  // A stop by length may have cut the arguments, so none of these calls is safe to run.
  if (answer.finishReason === "length")
    return "Not run: the answer was cut off by the length limit. Call again with less.";
  return answer.refused.get(toolCallId);
}

export async function prepare(
  asked: Asked,
  setup: Setup,
  { signal, refused }: { signal: AbortSignal; refused?: string | undefined },
): Promise<Prepared> {
  const { toolCallId, toolName, input: args } = asked;
  const refuse = (content: string): Prepared => ({
    kind: "refuse",
    toolCallId,
    event: (turnId) => notDone(asked, { turnId, content }),
  });
  if (refused !== undefined) return refuse(refused);
  const tool = setup.tools.get(toolName);
  if (!tool)
    return refuse(`There is no tool "${toolName}". The tools are: ${[...setup.tools.keys()].join(", ") || "none"}.`);
  const checked = await orAborted(checkArgs(tool, args), signal);
  if (!checked) return refuse("Not run: the turn was aborted.");
  if (!checked.ok) return refuse(`Invalid arguments for ${toolName}:\n${checked.problem}`);
  return {
    kind: "run",
    toolCallId,
    tool,
    input: checked.value,
    event: (turnId, key) => ({ type: "tool_start", turnId, toolCallId, toolName, args, key, effect: tool.effect }),
  };
}

async function checkArgs(tool: NamedTool, args: Json) {
  try {
    return await tool.schema.check(args);
  } catch (error) {
    return { ok: false as const, problem: `The schema itself failed: ${String(error)}` };
  }
}

/**
 * Sees to the calls of the newest answer until all have ended, or those that have not wait for a person. Calls run in parallel;
 * an answer that comes in for one of them starts it again while the others still run.
 */
export async function runCalls(driver: Driver, setup: Setup): Promise<void> {
  await reportCut(driver);
  const running = new Map<string, Promise<void>>();
  const failures: unknown[] = [];
  while (driver.drives) {
    await startRequested(driver, setup, running);
    for (const call of driver.state.turn?.calls ?? []) {
      if (call.state !== "started" || running.has(call.toolCallId) || driver.signal.aborted) continue;
      const run = runOne(driver, setup, call).catch((error: unknown) => {
        failures.push(error);
        driver.abortTurn();
      });
      running.set(
        call.toolCallId,
        run.finally(() => running.delete(call.toolCallId)),
      );
    }
    if (running.size === 0) break;
    await Promise.race([...running.values(), driver.journal.changed()]);
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

/** Calls that were asked for and not begun, and those that somebody has answered. */
async function startRequested(driver: Driver, setup: Setup, running: ReadonlyMap<string, unknown>): Promise<void> {
  const waiting = (driver.state.turn?.calls ?? []).filter(({ state }) => state === "requested" || state === "resumed");
  const calls = waiting.filter((call) => !running.has(call.toolCallId));
  if (calls.length === 0 || driver.signal.aborted) return;
  const prepared = await Promise.all(calls.map((call) => prepare(call, setup, driver)));
  await driver.append((state) => {
    const { turn } = state;
    if (!turn || driver.signal.aborted) return null;
    const events: NewEvent[] = [];
    for (const call of prepared) {
      const known = turn.calls.find(({ toolCallId }) => toolCallId === call.toolCallId);
      const key = known?.key ?? `${driver.journal.id}:${state.seq + events.length + 1}`;
      if (call.kind === "run") driver.ready.set(call.toolCallId, call);
      events.push(call.event(turn.turnId, key));
    }
    return afterCall(state, events);
  });
}

async function runOne(driver: Driver, setup: Setup, call: Call): Promise<void> {
  const { clock } = driver.ports;
  const { toolCallId, toolName } = call;
  const startedAt = clock.now();
  const outcome = await effect(driver, setup, call);
  driver.ready.delete(toolCallId);
  // Closing: whoever goes on with the turn finds a call that was stopped as it is, begun and not ended. What is done is kept.
  if (!driver.drives && (outcome.kind === "suspended" || outcome.isError)) return;
  await driver.append((state) => {
    if (!state.turn) return null;
    const { turnId } = state.turn;
    if (outcome.kind === "suspended") {
      return afterCall(state, [
        { type: "tool_suspended", turnId, toolCallId, toolName, args: call.input, suspendPayload: outcome.payload },
      ]);
    }
    const { result, isError, blobs } = outcome;
    const unknown = outcome.unknown ? { unknown: true } : {};
    const durationMs = Math.max(0, clock.now() - startedAt);
    return {
      ...afterCall(state, [
        { type: "tool_end", turnId, toolCallId, toolName, result, isError, ...unknown, durationMs },
      ]),
      blobs,
    };
  });
}

/** The one place where a tool is run. */
async function effect(driver: Driver, setup: Setup, call: Call): Promise<CallOutcome> {
  const { toolCallId, toolName, key } = call;
  const known = driver.ready.get(toolCallId);
  const prepared = known ? { kind: "run" as const, ...known } : await prepare(call, setup, driver);
  if (prepared.kind === "refuse" && !driver.signal.aborted)
    return failed(`The tool "${toolName}" can't be run again: it is gone, or takes other arguments now.`);
  await driver.confirm();
  if (prepared.kind === "refuse" || driver.signal.aborted) return failed("Not run: the turn was aborted.");
  return runCall({
    tool: prepared.tool,
    input: prepared.input,
    key: key ?? "",
    threadId: driver.journal.id,
    toolCallId,
    resumed: call.answered ? { payload: call.payload, data: call.data } : null,
    signal: driver.signal,
    clock: driver.ports.clock,
    emit: (partialResult) => driver.journal.live({ type: "tool_update", toolCallId, toolName, partialResult }),
  });
}
