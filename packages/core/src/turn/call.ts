import { ControlResult } from "../control/result.ts";
import { CinchError } from "../errors.ts";
import type { ThreadFiles } from "../files.ts";
import type { Workspace } from "../workspace.ts";
import { asText, type NamedTool, type ToolContent, type ToolContext } from "../tool.ts";
import type { FilePart, Json, TextPart, ToolResult } from "../message.ts";
import { hashOf, sleep, type Clock } from "../ports.ts";
import { fromBase64 } from "../base64.ts";
import type { Blob } from "../store.ts";

/** How much of one result the model is shown, in characters: the beginning and the end. */
export const RESULT_CHARS = 100_000;
/** How large `details` may be, as JSON. */
const DETAILS_CHARS = 1_000_000;
/** How long a tool may take to stop after it was told to. */
const GRACE_MS = 1_000;

export type CallOutcome =
  | { kind: "ended"; result: ToolResult; isError: boolean; unknown?: true; blobs: Blob[] }
  | { kind: "suspended"; payload: Json }
  /** A control tool: what it does to the thread is decided in the append that ends the call. */
  | { kind: "control"; settle: ControlResult["settle"] };

export interface CallRun {
  tool: NamedTool;
  /** Arguments that the tool's schema has let through. */
  input: unknown;
  key: string;
  threadId: string;
  toolCallId: string;
  resumed: ToolContext["resumed"];
  signal: AbortSignal;
  clock: Clock;
  workspace: Workspace | undefined;
  files: ThreadFiles;
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
    toolCallId: run.toolCallId,
    key: run.key,
    signal: stop.signal,
    resumed: run.resumed,
    workspace: run.workspace,
    files: run.files,
    emit: (partialResult) => run.emit(bounded(asJson(partialResult))),
    suspend(payload) {
      suspended = { payload: asJson(payload) };
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
    if (context.signal.aborted) return failed(`Stopped: ${messageOf(error)}`);
    const outcome = failed(messageOf(error));
    if (!(error instanceof CinchError)) return outcome;
    return { ...outcome, result: { ...outcome.result, details: { code: error.code } } };
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

type Ended = Extract<CallOutcome, { kind: "ended" }>;

export const failed = (text: string): Ended => ({
  kind: "ended",
  result: { content: clip(text) },
  isError: true,
  blobs: [],
});

async function ended(output: unknown): Promise<Ended> {
  const shaped = isShaped(output) ? output : { content: asText(output), details: undefined };
  const blobs: Blob[] = [];
  const content = typeof shaped.content === "string" ? clip(shaped.content) : await parts(shaped.content, blobs);
  const details = shaped.details === undefined ? {} : { details: bounded(asJson(shaped.details)) };
  return { kind: "ended", result: { content, ...details }, isError: false, blobs };
}

const isShaped = (value: unknown): value is { content: ToolContent; details?: unknown } =>
  typeof value === "object" &&
  value !== null &&
  "content" in value &&
  (typeof value.content === "string" || isParts(value.content));

const isParts = (value: unknown): value is Exclude<ToolContent, string> =>
  Array.isArray(value) && value.every((part) => part?.type === "text" || part?.type === "file");

async function parts(content: Exclude<ToolContent, string>, blobs: Blob[]): Promise<(TextPart | FilePart)[]> {
  const out: (TextPart | FilePart)[] = [];
  // One text for all: each for itself could be short, and all together endless.
  const text = content.flatMap((part) => (part.type === "text" ? [asText(part.text)] : [])).join("\n");
  if (text !== "") out.push({ type: "text", text: clip(text) });
  for (const part of content) {
    if (part.type === "text") continue;
    if (typeof part.mediaType !== "string") throw new TypeError("The tool returned a file without a mediaType.");
    if (part.data instanceof URL) out.push({ ...named(part), url: part.data.href });
    else {
      const bytes = typeof part.data === "string" ? fromBase64(part.data) : new Uint8Array(part.data);
      const hash = await hashOf(bytes);
      blobs.push({ hash, bytes });
      out.push({ ...named(part), blob: hash });
    }
  }
  return out;
}

const named = ({ mediaType, filename }: { mediaType: string; filename?: string }) => ({
  type: "file" as const,
  mediaType,
  ...(typeof filename === "string" ? { filename } : {}),
});

/** Keeps the beginning and the end, and says what is missing and how to see it. */
export function clip(text: string): string {
  if (text.length <= RESULT_CHARS) return text.toWellFormed();
  const head = text.slice(0, RESULT_CHARS * 0.7);
  const tail = text.slice(text.length - RESULT_CHARS * 0.3);
  const left = text.length - head.length - tail.length;
  // A cut may go through a character, and half of one is refused by providers.
  const cut = `${head}\n\n[${left} characters left out here. Ask for a smaller part to see them.]\n\n${tail}`;
  return cut.toWellFormed();
}

function bounded(details: Json): Json {
  const size = JSON.stringify(details).length;
  return size <= DETAILS_CHARS ? details : { leftOut: `${size} characters of details: more than ${DETAILS_CHARS}.` };
}

/** JSON can't hold everything a tool can return; what it can't becomes text rather than an error. */
export function asJson(value: unknown): Json {
  try {
    return (JSON.parse(JSON.stringify(value) ?? "null") ?? null) as Json;
  } catch {
    return String(value);
  }
}

const messageOf = (error: unknown): string => {
  if (error instanceof Error) return asText(error.message === "" ? error.name : error.message);
  return asText(error);
};
