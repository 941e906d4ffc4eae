import { isForChildren, provideHost, type ControlHost } from "../tools/control/host.ts";
import { ControlResult } from "../tools/control/result.ts";
import { CinchError, reasonOf } from "../errors.ts";
import type { ThreadHistory } from "../queries/thread-history.ts";
import type { ThreadFiles } from "../events/files.ts";
import type { Workspace } from "../ports/workspace.ts";
import { NoJson, toJson } from "../events/json.ts";
import type { Json } from "../events/message.ts";
import type { PathRuleLists } from "../permissions/path-rule.ts";
import { sleep, type Clock } from "../ports/clock.ts";
import { type NamedTool, type ToolContext } from "../tools/tool.ts";
import type { CallSkills } from "./call-skills.ts";
import type { CallState } from "./call-state.ts";
import { callEnd, failed, shownJson, type CallEnd } from "./tool-result.ts";

/** How long a tool may take to stop after its signal is aborted. */
const GRACE_MS = 1_000;

export type CallOutcome =
  | CallEnd
  | { kind: "suspended"; payload: Json; forChildren: boolean }
  /** The result of a control tool, which is computed in the append that ends the call. */
  | { kind: "control"; settle: ControlResult["settle"] };

interface CallRun {
  tool: NamedTool;
  /** The arguments, as the tool's schema parsed them. */
  input: unknown;
  key: string;
  threadId: string;
  resourceId: string;
  toolCallId: string;
  resumed: ToolContext["resumed"];
  pathRules: PathRuleLists;
  signal: AbortSignal;
  clock: Clock;
  workspace: Workspace | undefined;
  files: ThreadFiles;
  history: ThreadHistory;
  state: CallState;
  skills: CallSkills;
  host: ControlHost;
  emit(partialResult: Json): void;
}

class Suspended extends Error {
  override readonly name = "Suspended";
  constructor() {
    super("This call waits for an answer.");
  }
}

/** Runs one call. Never rejects. Returns at most `GRACE_MS` after the signal is aborted or the timeout has passed. */
export async function runCall(run: CallRun): Promise<CallOutcome> {
  const stop = new AbortController();
  const finished = new AbortController();
  const onAbort = () => stop.abort(run.signal.reason);
  if (run.signal.aborted) onAbort();
  run.signal.addEventListener("abort", onAbort);
  let hasTimedOut = false;
  const { timeoutMs } = run.tool;
  const cancelTimeout =
    timeoutMs === undefined
      ? undefined
      : run.clock.after(timeoutMs, () => {
          hasTimedOut = true;
          stop.abort();
        });
  let suspended: { payload: Json } | undefined;
  const context: ToolContext = {
    threadId: run.threadId,
    resourceId: run.resourceId,
    toolCallId: run.toolCallId,
    key: run.key,
    signal: stop.signal,
    resumed: run.resumed,
    workspace: run.workspace,
    files: run.files,
    history: run.history,
    pathRules: run.pathRules,
    get state() {
      return run.state.whole;
    },
    setState: (updates) => run.state.set(updates),
    loadSkill: (skill) => run.skills.load(skill),
    emit: (partialResult) => run.emit(shownJson(partialResult)),
    suspend(payload) {
      suspended = { payload: payloadOf(payload) };
      throw new Suspended();
    },
  };
  provideHost(context, run.host);
  try {
    const gracePeriod = graceAfter(stop.signal, run.clock, finished.signal);
    const outcome = await Promise.race([attempt(run, context), gracePeriod]);
    if (suspended) return { kind: "suspended", payload: suspended.payload, forChildren: isForChildren(context) };
    if (outcome) return outcome;
    const why = hasTimedOut ? `Timed out after ${timeoutMs} ms` : "Aborted";
    return {
      ...failed(`${why}. The tool did not stop in time: its effect is unknown, verify before retrying.`),
      unknown: true,
    };
  } finally {
    finished.abort("finished");
    cancelTimeout?.();
    run.signal.removeEventListener("abort", onAbort);
  }
}

async function attempt(run: CallRun, context: ToolContext): Promise<CallOutcome> {
  try {
    const output = await run.tool.execute(run.input, context);
    if (output instanceof ControlResult) return { kind: "control", settle: output.settle };
    return await callEnd(output);
  } catch (error) {
    if (context.signal.aborted) return failed(`Stopped: ${reasonOf(error)}`);
    const outcome = failed(reasonOf(error));
    const code = codeOf(error);
    return code === undefined ? outcome : { ...outcome, result: { ...outcome.result, details: { code } } };
  }
}

/** Settles `GRACE_MS` after the signal is aborted. `finished` ends the timer early. */
function graceAfter(signal: AbortSignal, clock: Clock, finished: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    const wait = () => resolve(sleep(clock, GRACE_MS, finished).then(() => undefined));
    if (signal.aborted) wait();
    else signal.addEventListener("abort", wait, { once: true });
  });
}

function payloadOf(payload: unknown): Json {
  try {
    return toJson(payload);
  } catch (error) {
    if (!(error instanceof NoJson)) throw error;
    throw new NoJson(`The payload of suspend must be JSON: ${error.message}`, { cause: error });
  }
}

/** `instanceof` may throw for a proxy. */
function codeOf(error: unknown): string | undefined {
  try {
    return error instanceof CinchError ? error.code : undefined;
  } catch {
    return undefined;
  }
}
