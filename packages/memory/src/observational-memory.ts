import {
  CinchError,
  checkKeys,
  checkModel,
  type ContextPlan,
  type ContextView,
  type Cut,
  type Memory,
  type Model,
} from "@cinch/core";
import { recallTool } from "./recall.ts";
import { lastBoundary, replacing, whyCompact } from "./room.ts";
import { focusIn, observerRequest, reflectorRequest, summaryRequest } from "./texts.ts";

export interface ObservationalMemoryOptions {
  /** Messages are replaced by observations when they take this many tokens. */
  messageTokens?: number;
  /** Observations are condensed when they take this many tokens. */
  observationTokens?: number;
  /** Default: the thread's own model. */
  observer?: Model;
  reflector?: Model;
  /** `resource`: a new prompt also has what other threads of the resource observed. Default: `thread`. */
  scope?: "thread" | "resource";
  /** After this long without an answer, the provider's cache is cold, so replacing messages costs nothing more. */
  idleMs?: number;
}

/** What `setState({ om })` can change for one thread. */
interface Settings {
  messageTokens: number;
  observationTokens: number;
  observer: Model | undefined;
  reflector: Model | undefined;
}

const DEFAULTS = { messageTokens: 30_000, observationTokens: 40_000, idleMs: 5 * 60_000 };
/** How much is observed at once, and how much of the newest stays as it is. */
const CHUNK = 0.2;
/** The share of the window that observations may take: the reflector reads them in one request. */
const MOST_OBSERVED = 1 / 3;

const OPTIONS = ["messageTokens", "observationTokens", "observer", "reflector", "scope", "idleMs"];
const SETTINGS = ["messageTokens", "observationTokens", "observer", "reflector"];

/**
 * An observer turns older messages into dated observations, beside the turn. A reflector condenses observations when there are too many.
 * Without an observer that works, summaries keep the prompt within the window.
 */
export function observationalMemory(options: ObservationalMemoryOptions = {}): Memory {
  checkKeys("observationalMemory", options, OPTIONS);
  checkTokens("observationalMemory", options, "INVALID_CONFIG");
  const { idleMs = DEFAULTS.idleMs, scope = "thread" } = options;
  if (typeof idleMs !== "number" || !(idleMs >= 0))
    throw new CinchError("INVALID_CONFIG", 'observationalMemory: "idleMs" must be a number of milliseconds from 0.');
  if (scope !== "thread" && scope !== "resource")
    throw new CinchError("INVALID_CONFIG", 'observationalMemory: "scope" must be "thread" or "resource".');
  checkModel('observationalMemory: "observer"', options.observer);
  checkModel('observationalMemory: "reflector"', options.reflector);
  const settings: Settings = {
    messageTokens: options.messageTokens ?? DEFAULTS.messageTokens,
    observationTokens: options.observationTokens ?? DEFAULTS.observationTokens,
    observer: options.observer,
    reflector: options.reflector,
  };
  const settingsOf = (own: unknown): Settings => ({ ...settings, ...usable(own) });
  return {
    scope,
    tools: { recall: recallTool({ scope }) },
    checkSettings,
    plan: (view) => planOf(view, settingsOf(view.settings), idleMs),
    async observe(job) {
      const { observer } = settingsOf(job.settings);
      const text = await job.ask({ ...observerRequest({ ...job, room: job.roomOf(observer) }), model: observer });
      return { text, ...focusIn(text) };
    },
    reflect(job) {
      const { reflector } = settingsOf(job.settings);
      return job.ask({ ...reflectorRequest({ ...job, room: job.roomOf(reflector) }), model: reflector });
    },
    // The observer may be what fails: the thread's own model is likely to work, since the turn goes on with it.
    summarise: (job) => job.ask(summaryRequest(job)),
  };
}

/** A process without this memory may have set anything. */
function usable(settings: unknown): Partial<Settings> {
  try {
    checkSettings(settings);
    return settings as Partial<Settings>;
  } catch {
    return {};
  }
}

function checkSettings(settings: unknown): void {
  if (typeof settings !== "object" || settings === null || Array.isArray(settings))
    throw new CinchError("INVALID_INPUT", `setState: "om" must be an object with some of ${SETTINGS.join(", ")}.`);
  const unknown = Object.keys(settings).find((key) => !SETTINGS.includes(key));
  if (unknown !== undefined)
    throw new CinchError("INVALID_INPUT", `setState: "om" has no key "${unknown}". It has ${SETTINGS.join(", ")}.`);
  checkTokens('setState: "om"', settings, "INVALID_INPUT");
  for (const key of ["observer", "reflector"] as const) {
    const model = (settings as Record<string, unknown>)[key];
    if (model !== undefined && typeof model !== "string")
      throw new CinchError("INVALID_INPUT", `setState: "om.${key}" must be the id of a model, as a string.`);
  }
}

function checkTokens(what: string, values: object, code: "INVALID_CONFIG" | "INVALID_INPUT"): void {
  for (const key of ["messageTokens", "observationTokens"] as const) {
    const value = (values as Record<string, unknown>)[key];
    const isValid = value === undefined || (typeof value === "number" && Number.isInteger(value) && value >= 1_000);
    if (!isValid) throw new CinchError(code, `${what}: "${key}" must be a whole number of tokens from 1000.`);
  }
}

function planOf(view: ContextView, settings: Settings, idleMs: number): ContextPlan {
  const { messageTokens, observationTokens } = settings;
  return {
    cut: cutOf(view, settings, idleMs),
    observe: dueForObserver(view, messageTokens * CHUNK),
    reflect: dueForReflector(view, Math.min(observationTokens, view.window * MOST_OBSERVED)),
    limits: { messageTokens, observationTokens },
  };
}

function cutOf(view: ContextView, { messageTokens: limit }: Settings, idleMs: number): Cut | null {
  const raw = limit * CHUNK;
  const reason = whyCompact(view);
  const end = lastBoundary(view, reason === "window" ? raw : 0);
  const observed = reason === "overflow" ? null : lastObserved(view, raw);
  const isCold = view.isModelNew || (view.idleMs !== null && view.idleMs >= idleMs);
  if (observed !== null && view.messageTokens >= limit)
    return { kind: "activate", toSeq: observed, reason: "threshold" };
  if (observed !== null && isCold)
    return { kind: "activate", toSeq: observed, reason: view.isModelNew ? "cache" : "idle" };
  if (reason === null) return null;
  // What is observed already costs nothing. But a prompt that was refused is sent again only once, so then it must reach the end.
  const any = lastObserved(view, 0);
  const isEnough = reason === "window" || (reason === "overflow" && any === end?.seq);
  if (any !== null && isEnough) return { kind: "activate", toSeq: any, reason };
  if (end) return replacing([view.fromSeq, end.seq], reason, view);
  const [first] = view.blocks;
  return first && reason !== "requested" && view.blocks.length > 1
    ? replacing([first.range[0], view.blocks.at(-1)!.range[1]], reason, view)
    : null;
}

/** The end of the last buffered observation after which at least `raw` tokens of messages stay. */
function lastObserved({ buffered, boundaries, messageTokens }: ContextView, raw: number): number | null {
  const last = buffered.findLast(({ range: [, to] }) => {
    const end = boundaries.find(({ seq }) => seq === to);
    return end && messageTokens - end.tokens >= raw;
  });
  return last?.range[1] ?? null;
}

/** The next chunk after what is observed already. `null`: there is not enough of it yet. */
function dueForObserver({ buffered, boundaries, fromSeq }: ContextView, chunk: number): [number, number] | null {
  const observedSeq = buffered.at(-1)?.range[1] ?? fromSeq - 1;
  const observedTokens = boundaries.findLast(({ seq }) => seq <= observedSeq)?.tokens ?? 0;
  const end = boundaries.find(({ tokens }) => tokens - observedTokens >= chunk);
  return end && end.seq > observedSeq ? [observedSeq + 1, end.seq] : null;
}

/** The oldest blocks, so that the newest stay as they are. */
function dueForReflector({ blocks, blockTokens, reflection }: ContextView, limit: number): [number, number] | null {
  if (reflection || blockTokens < limit || blocks.length < 2) return null;
  let newest = 0;
  const end = blocks.findLast(({ tokens }) => (newest += tokens) > limit * CHUNK);
  const last = end && end !== blocks[0] ? end : blocks[0]!;
  return [blocks[0]!.range[0], last.range[1]];
}
