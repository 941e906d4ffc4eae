import { existsSync, readFileSync } from "node:fs";
import process from "node:process";
import { isDeepStrictEqual } from "node:util";
import { emptyTranscript, reduceTranscript, toPrompt } from "@cinch/core/journal";
import type { DurableEvent, Store } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { validateAnthropic, validateGemini, validateOpenAIChat, validateOpenAIResponses } from "../providers/index.ts";
import {
  answeredTwice,
  wrongModeAfterPlan,
  wrongFinalControl,
  unpermitted,
  type Evidence,
  type JournalRow,
  type ToolRun,
} from "./control-oracle.ts";

// Not an import: in an older Node it would fail before `@cinch/sqlite` can say which Node is needed.
const { DatabaseSync } = process.getBuiltinModule("node:sqlite");

/** Another process may be at work in the file: the one that outlived the crash recovers it, or writes. */
const LOCKED_MS = 10_000;

const validators = [validateAnthropic, validateGemini, validateOpenAIChat, validateOpenAIResponses];

/** The state at one moment: all events in the file, and all runs of tools so far. */
export interface Inspection extends Evidence {
  /** For each finished call, by its key, how often it had run. */
  finished: Map<string, number>;
}

const lines = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];

export function inspectStore(folder: string): Inspection {
  return inspectionOf(folder, existsSync(`${folder}/cinch.db`) ? readRows(`${folder}/cinch.db`) : []);
}

/** `rows`: all events in the store, those that a rewind has reverted among them, by journal and `seq`. */
export function inspectionOf(folder: string, rows: JournalRow[]): Inspection {
  const runs = lines(`${folder}/ledger`).map((line) => {
    const [tool = "", key = "", ...what] = line.split(" ");
    return { tool, key, what: what.join(" ") };
  });
  const ended = rows.flatMap(({ journal, seq, event }) => {
    if (event.type !== "tool_end" || event.unknown) return [];
    const start = rows.findLast(
      (row) => row.journal === journal && row.seq < seq && starts(row.event, event.toolCallId),
    );
    return start?.event.type === "tool_start" ? [start.event.key] : [];
  });
  return { rows, runs, finished: new Map(ended.map((key) => [key, countOf(runs, key)])) };
}

const countOf = (runs: readonly ToolRun[], key: string): number => runs.filter((run) => run.key === key).length;

const starts = (event: DurableEvent, toolCallId: string) =>
  event.type === "tool_start" && event.toolCallId === toolCallId;

function readRows(path: string): JournalRow[] {
  const db = new DatabaseSync(path, { readOnly: true, timeout: LOCKED_MS });
  try {
    const hasEvents = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'events'").get();
    if (!hasEvents) return [];
    return db
      .prepare("SELECT key, body FROM events ORDER BY key")
      .all()
      .map(({ key, body }) => {
        const [journal, seq] = [Math.floor(Number(key) / 2 ** 28), Number(key) % 2 ** 28];
        return { journal, seq, event: { ...JSON.parse(String(body)), seq } as DurableEvent };
      });
  } finally {
    db.close();
  }
}

/** What must hold right after a crash, before the store is opened again. */
export function problemsAfterCrash(folder: string, now: Inspection, before: Inspection | undefined): string[] {
  return [
    ...lost(folder, now),
    ...ranTwice(now, before),
    ...unpermitted(now),
    ...answeredTwice(now),
    ...wrongModeAfterPlan(now),
    ...gaps(now),
    ...integrity(`${folder}/cinch.db`),
  ];
}

/** Every accepted command is in the file. */
function lost(folder: string, { rows }: Inspection): string[] {
  const has = (type: DurableEvent["type"], fields: Record<string, unknown> = {}) =>
    rows.some(({ event }) => event.type === type && holds(event, fields));
  return lines(`${folder}/accepted`).flatMap((line) => {
    const [what = "", id = "", toolCallId = ""] = line.split(" ");
    const inputId = id;
    const kept: Record<string, () => boolean> = {
      thread: () => has("thread_created") || has("thread_cloned"),
      renamed: () => has("thread_renamed"),
      forbidden: () => has("permission_changed", { rule: { toolName: "forbidden", policy: "deny" } }),
      input: () => has("input_accepted", { inputId }),
      removed: () => has("input_removed", { inputId }) && !has("input_taken", { inputId }),
      edited: () => has("input_edited", { inputId }),
      answered: () => has("tool_resumed", { toolName: id }),
      decided: () => has("tool_approval_resolved", { decision: id, toolCallId }),
      aborted: () => has("abort_requested") || has("agent_end", { reason: "aborted" }),
      rewound: () => has("thread_rewound"),
      mode: () => has("mode_changed", { modeId: id }),
      model: () => has("model_changed"),
      yolo: () => has("state_changed", { updates: { yolo: true } }),
    };
    const isKept = kept[what]?.() && (id !== "always_allow_tool" || has("grant_added", { from: toolCallId }));
    return isKept ? [] : [`accepted and lost: ${line}`];
  });
}

const holds = (event: DurableEvent, fields: Record<string, unknown>): boolean =>
  Object.entries(fields).every(([name, value]) => isDeepStrictEqual(event[name as keyof DurableEvent], value));

/** A finished call does not run again, and one with an effect never runs twice. */
function ranTwice(now: Inspection, before: Inspection | undefined): string[] {
  const again = [...(before?.finished ?? [])].flatMap(([key, runs]) =>
    countOf(now.runs, key) > runs ? [`ran again after it had finished: ${key}`] : [],
  );
  const twice = now.runs.filter(({ tool, key }) => ONCE.has(tool) && countOf(now.runs, key) > 1);
  return [...again, ...twice.map(({ tool, key }) => `ran twice: ${tool} ${key}`)];
}

const ONCE: ReadonlySet<string> = new Set(["once", "guarded", "forbidden"]);

function gaps({ rows }: Inspection): string[] {
  return rows.flatMap(({ journal, seq }, at) => {
    const previous = rows[at - 1];
    const dense = previous?.journal !== journal || previous.seq === seq - 1;
    return dense ? [] : [`a gap before ${journal}:${seq}`];
  });
}

function integrity(path: string): string[] {
  if (!existsSync(path)) return [];
  const db = new DatabaseSync(path, { timeout: LOCKED_MS });
  try {
    const [answer] = db.prepare("PRAGMA integrity_check").all();
    const said = String(Object.values(answer ?? {})[0]);
    return said === "ok" ? [] : [`integrity: ${said}`];
  } finally {
    db.close();
  }
}

/** What must hold at the end of the scenario, however often it crashed. */
export async function problemsAtEnd(
  folder: string,
  { store = sqliteStore({ path: `${folder}/cinch.db` }), settleMs }: { store?: Store; settleMs: number },
): Promise<string[]> {
  const slow = lines(`${folder}/settled`).filter((ms) => Number(ms) > settleMs);
  await store.open();
  try {
    const threads = await store.threads();
    const perThread = await Promise.all(threads.map(({ id }) => threadProblems(store, id)));
    const unfinished = lines(`${folder}/done`).length === 0 ? ["the scenario did not reach its end"] : [];
    const topLevel = (await store.threads({ topLevel: true })).length;
    const isComplete = topLevel === 2 && threads.length === topLevel + CHILDREN;
    const count = isComplete ? [] : [`${topLevel} threads and ${threads.length - topLevel} of subagents`];
    return [
      ...unfinished,
      ...count,
      ...slow.map((ms) => `not settled within ${settleMs} ms: ${ms} ms`),
      ...perThread.flat(),
    ];
  } finally {
    await store.close();
  }
}

async function threadProblems(store: Store, id: string): Promise<string[]> {
  const events = await store.read(id);
  const transcript = events.reduce(reduceTranscript, emptyTranscript);
  const prompt = await toPrompt({ system: "Obey.", tools: [] }, transcript, (hash) => store.blob(hash));
  const said = events.flatMap((event) => {
    if (event.type !== "message_end" || event.message.role !== "user") return [];
    return event.message.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  });
  const twice = said.filter((text, at) => said.indexOf(text) !== at).map((text) => `said twice: ${text}`);
  const open =
    events.filter(({ type }) => type === "input_accepted").length -
    events.filter(({ type }) => type === "input_taken" || type === "input_removed").length;
  const { status } = await store.lease(id);
  return [
    ...wrongFinalControl(events),
    ...validators.flatMap((validate) => validate(prompt)),
    ...twice,
    ...(open > 0 ? [`${open} inputs were never taken`] : []),
    ...(status === "free" ? [] : [`the lease is still ${status}`]),
    ...runProblems(events),
    ...(await offloadProblems(store, events)),
  ];
}

/** What was offloaded is in the store, and the end of its call follows. */
async function offloadProblems(store: Store, events: readonly DurableEvent[]): Promise<string[]> {
  const problems = events.map(async (event) => {
    if (event.type !== "context_offloaded") return [];
    const { seq, path, blob, bytes, toolCallId } = event;
    const isKept = (await store.blob(blob))?.length === bytes;
    const isEnded = events.some(
      (end) => end.type === "tool_end" && end.seq === seq + 1 && end.toolCallId === toolCallId,
    );
    return [...(isKept ? [] : [`not kept: ${path}`]), ...(isEnded ? [] : [`offloaded without its end: ${path}`])];
  });
  return (await Promise.all(problems)).flat();
}

/** The scenario delegates twice. */
const CHILDREN = 2;

/** Each run has one end, and the end of one in the background is told at most once. */
function runProblems(events: readonly DurableEvent[]): string[] {
  const started = events.flatMap((event) => (event.type === "subagent_start" ? [event.runId] : []));
  const ended = events.flatMap((event) => (event.type === "subagent_end" ? [event.runId] : []));
  const failed = events.flatMap((event) =>
    event.type === "subagent_end" && event.isError ? [`a run failed: ${event.runId} ${event.status}`] : [],
  );
  const notes = events.filter((event) => event.type === "message_end" && event.message.role === "note");
  const told = notes.filter((event) => JSON.stringify(event).includes("The background subagent"));
  const isOnce =
    isDeepStrictEqual([...new Set(ended)].toSorted(), started.toSorted()) && ended.length === started.length;
  return [
    ...(isOnce ? [] : [`runs ${started.join(", ")} ended as ${ended.join(", ")}`]),
    ...failed,
    ...(told.length > 1 ? ["the end of a background run was told twice"] : []),
  ];
}
