import { ControlResult } from "../tools/control/result.ts";
import { CinchError, reasonOf } from "../errors.ts";
import type { ThreadFiles } from "../events/files.ts";
import type { Workspace } from "../ports/workspace.ts";
import { NoJson, toJson } from "../events/json.ts";
import type { Json } from "../events/message.ts";
import { sleep, type Clock } from "../ports/clock.ts";
import { type NamedTool, type ToolContext } from "../tools/tool.ts";
import type { CallState } from "./call-state.ts";
import { ended, failed, shownJson, type Ended } from "./tool-result.ts";

/** How long a tool may take to stop after it was told to. */
const GRACE_MS = 1_000;

export type CallOutcome =
  | Ended
  | { kind: "suspended"; payload: Json }
  /** A control tool: what it does to the thread is decided in the append that ends the call. */
  | { kind: "control"; settle: ControlResult["settle"] };

export interface CallRun {
  tool: NamedTool;
  /** Arguments that the tool's schema has let through. */
  input: unknown;
  key: string;
  threadId: string;
  resourceId: string;
  toolCallId: string;
  resumed: ToolContext["resumed"];
  signal: AbortSignal;
  clock: Clock;
  workspace: Workspace | undefined;
  files: ThreadFiles;
  state: CallState;
  emit(partialResult: Json): void;
}

class Suspended extends Error {
  override readonly name = "Suspended";
  constructor() {
    super("This call waits for an answer.");
  }
}

/** Runs one call to its end. Never rejects, and never takes much longer than its signal or its timeout allow. */
export async function runCall(run: CallRun): Promise<CallOutcome> {
  const stop = new AbortController();
  const over = new AbortController();
  const onAbort = () => stop.abort(run.signal.reason);
  if (run.signal.aborted) onAbort();
  run.signal.addEventListener("abort", onAbort);
  let timedOut = false;
  const { timeoutMs } = run.tool;
  const cancel =
    timeoutMs === undefined
      ? undefined
      : run.clock.after(timeoutMs, () => {
          timedOut = true;
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
    get state() {
      return run.state.whole;
    },
    setState: (updates) => run.state.set(updates),
    emit: (partialResult) => run.emit(shownJson(partialResult)),
    suspend(payload) {
      suspended = { payload: payloadOf(payload) };
      throw new Suspended();
    },
  };
  try {
    const outcome = await Promise.race([attempt(run, context), givenUp(stop.signal, run.clock, over.signal)]);
    if (suspended) return { kind: "suspended", payload: suspended.payload };
    if (outcome) return outcome;
    const why = timedOut ? `Timed out after ${timeoutMs} ms` : "Aborted";
    return {
      ...failed(`${why}. The tool did not stop in time: its effect is unknown, verify before retrying.`),
      unknown: true,
    };
  } finally {
    over.abort();
    cancel?.();
    run.signal.removeEventListener("abort", onAbort);
  }
}

async function attempt(run: CallRun, context: ToolContext): Promise<CallOutcome> {
  try {
    const output = await run.tool.execute(run.input, context);
    if (output instanceof ControlResult) return { kind: "control", settle: output.settle };
    return await ended(output);
  } catch (error) {
    if (context.signal.aborted) return failed(`Stopped: ${reasonOf(error)}`);
    const outcome = failed(reasonOf(error));
    const code = codeOf(error);
    return code === undefined ? outcome : { ...outcome, result: { ...outcome.result, details: { code } } };
  }
}

/** `undefined` once the grace after an abort has passed. */
function givenUp(signal: AbortSignal, clock: Clock, over: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    const wait = () => resolve(sleep(clock, GRACE_MS, over).then(() => undefined));
    if (signal.aborted) wait();
    else signal.addEventListener("abort", wait, { once: true });
  });
}

function payloadOf(payload: unknown): Json {
  try {
    return toJson(payload);
  } catch (error) {
    if (!(error instanceof NoJson)) throw error;
    throw new NoJson(`suspend takes what has a JSON: ${error.message}`, { cause: error });
  }
}

/** A thrown proxy may fail even when its class is asked for. */
function codeOf(error: unknown): string | undefined {
  try {
    return error instanceof CinchError ? error.code : undefined;
  } catch {
    return undefined;
  }
}
