import type { DurableEvent, EndReason, NewEvent, StampedEvent } from "../events/event-map.ts";
import { awaitingCalls, awaitPayload } from "../folds/awaited.ts";
import { firstDueAt, hasQueued, isScheduled, type InboxItem } from "../folds/inbox.ts";
import { REMIND_AFTER } from "../folds/control.ts";
import { editedArgs, hasReport, type Call, type ChildReport } from "../folds/call.ts";
import { asksPerson } from "../folds/open-call.ts";
import { isWaiting } from "../folds/progress.ts";
import { worksOnRun } from "../folds/runs.ts";
import type { Turn } from "../folds/state.ts";
import { reduceThreadAll, type ThreadState } from "../folds/state.ts";
import type { Json } from "../events/message.ts";
import type { Ids } from "../ports/ids.ts";
import type { Blob } from "../ports/store.ts";
import type { Setup } from "./setup.ts";
import { profileNoted, type ProfileNote } from "./profile-note.ts";
import { changedSources, type SourceTexts } from "./sources.ts";

/** What a decision appends. `result` is for the caller, and holds for the state that the decision was made from. */
export interface Proposal<Result = void> {
  /** If empty, nothing is appended. */
  events: readonly NewEvent[];
  blobs?: readonly Blob[];
  /** Whether the driver's lease is released in the same append. */
  release?: boolean;
  result?: Result;
  /** What a repetition of the command is answered with. It is recorded only if the command has an id. */
  answer?: Json;
}

/** Must be pure: it is called again, with the newer state, if another process has appended first. */
export type Decide<Result = void> = (state: ThreadState) => Proposal<Result> | null;

/** The outcome of a decision. `nothing`: there was nothing to append. `refused`: the lease is not valid any more. */
export type Appended<Result = void> =
  | {
      kind: "appended";
      events: readonly StampedEvent[];
      epoch: number;
      released: boolean;
      /** A living driver will see the events. */
      driven: boolean;
      result: Result | undefined;
    }
  | { kind: "nothing"; result: Result | undefined }
  | { kind: "refused" };

/** If a driver dies after this many takeovers without progress, the thread is parked: the next one would die too. */
export const MAX_TAKEOVERS = 3;

/** Whether a driver, not a person, has to act next. */
export function needsDriving(state: ThreadState): boolean {
  if (state.foreign) return false;
  if (state.files.restoring) return true;
  if (state.turn?.aborting) return true;
  if (state.parked) return false;
  if (isCompactionDue(state)) return true;
  if (state.turn) return !isWaiting(state.turn);
  return (hasQueued(state.inbox) && !state.held) || hasUnrecordedChanges(state);
}

/**
 * When the thread becomes awake by itself: at the earliest deadline of a call of `agent_await`, or without a turn at the time of the next
 * scheduled input. `null`: never. The timeout of a background run counts only the time at work, so the process that drives the child keeps
 * it.
 */
export function nextDueAt(state: ThreadState): number | null {
  // During a turn, an input that is due only waits.
  if (!state.turn) return firstDueAt(state.inbox);
  const deadlines = awaitingCalls(state).flatMap((call) => awaitPayload(call).until ?? []);
  return deadlines.length > 0 ? Math.min(...deadlines) : null;
}

/** Whether a driver has to compact the prompt now. While the turn goes on, its next step does it. */
export const isCompactionDue = ({ context, turn, parked }: ThreadState): boolean =>
  context.requested !== null && !parked && (!turn || (isWaiting(turn) && !turn.aborting));

/** Whether the thread has work left, for a driver or after a person's answer. */
export const isActive = (state: ThreadState): boolean =>
  state.turn !== null || hasQueued(state.inbox) || state.runs.unfinished.size > 0 || needsDriving(state);

/** Whether the turn waits until a person answers. */
export const waitsForPerson = ({ foreign, turn, parked }: ThreadState): boolean =>
  !foreign && !parked && turn !== null && !turn.aborting && isWaiting(turn) && turn.calls.some(asksPerson);

/** Whether there are commands whose changes to files are not recorded yet. */
export const hasUnrecordedChanges = ({ files }: ThreadState): boolean => Object.keys(files.trees).length > 0;

/** The state as it would be after these events. */
export function stateAfter(state: ThreadState, events: readonly NewEvent[]): ThreadState {
  const stamped = events.map((event, at) => ({ ...event, v: 1, at: 0, seq: state.seq + at + 1, threadId: "" }));
  return reduceThreadAll(state, stamped as DurableEvent[]);
}

/** Begins a turn for the first queued input. */
export function beginTurn(
  state: ThreadState,
  mode: { modeId: string; modelId: string },
  { ids, force }: { ids: Ids; force: boolean },
): Proposal | null {
  const item = state.inbox[0];
  if (state.turn || !item || isScheduled(item) || (state.held && !force)) return null;
  const turnId = ids("turn");
  return { events: [{ type: "agent_start", turnId, ...mode, resumed: false }, ...takeInput(item, turnId, ids)] };
}

/** The events before a model call: a switch of mode or model, notes about the mode, the profile, context sources and open tasks, and steers. */
export function enterStep(
  state: ThreadState,
  setup: Setup,
  { ids, sources, profile, now }: { ids: Ids; sources: SourceTexts; profile: ProfileNote | null; now: number },
): Proposal | null {
  const { turn, control } = state;
  if (!turn) return null;
  const { turnId } = turn;
  const { mode, modelId, note } = setup;
  const events: NewEvent[] = [];
  if (turn.modeId !== mode.id || turn.modelId !== modelId)
    events.push({ type: "agent_start", turnId, modeId: mode.id, modelId, resumed: true });
  if (control.modeNote === null ? note.isNeeded : control.modeNote !== note.text)
    events.push(noteMessage({ turnId, about: "mode", text: note.text }, ids));
  events.push(...profileNoted(state, profile, ids), ...changedSources(state, { sources, ids, now }));
  events.push(...(takeSteers(state, ids)?.events ?? []));
  const open = state.tasks.filter(({ status }) => status !== "completed");
  const isDue = turn.steps === 0 ? control.sinceTasks > 0 : control.sinceTasks >= REMIND_AFTER;
  if (open.length > 0 && isDue && setup.gate.isAvailable("write_todos")) {
    const items = open.map(({ status, content }) => `- [${status}] ${content}`);
    const text = ["Still open on your task list:", ...items, "Keep the list up to date with write_todos."].join("\n");
    events.push(noteMessage({ turnId, about: "tasks", text }, ids));
  }
  return events.length > 0 ? { events } : null;
}

/** The last request to a subagent that has reached its limit of steps. */
export function askForReport({ turn }: ThreadState, maxSteps: number, ids: Ids): Proposal | null {
  if (!turn) return null;
  const text = `You have reached your limit of ${maxSteps} steps, and tools are off now. Report what you found and did, and what is left to do.`;
  return { events: [noteMessage({ turnId: turn.turnId, text }, ids)] };
}

export function noteMessage(note: { turnId: string; about?: "mode" | "tasks"; text: string }, ids: Ids): NewEvent {
  const { turnId, about, text } = note;
  return {
    type: "message_end",
    turnId,
    ...(about === undefined ? {} : { about }),
    message: { id: ids("message"), role: "note", content: [{ type: "text", text }] },
  };
}

/** Takes each steer into the running turn, as a message of its own. */
export function takeSteers(state: ThreadState, ids: Ids): Proposal | null {
  const { turn } = state;
  const steers = state.inbox.filter((item) => item.delivery === "steer");
  if (!turn || steers.length === 0) return null;
  return { events: steers.flatMap((item) => takeInput(item, turn.turnId, ids)) };
}

function takeInput({ inputId, content, files, note, by }: InboxItem, turnId: string, ids: Ids): NewEvent[] {
  const taken: NewEvent = { type: "input_taken", turnId, inputId };
  if (note) return [taken, noteMessage({ turnId, text: content }, ids)];
  const parts = [...(content === "" ? [] : [{ type: "text" as const, text: content }]), ...files];
  const message = { id: ids("message"), role: "user" as const, content: parts };
  return [taken, { type: "message_end", turnId, message, ...(by === null ? {} : { by }) }];
}

/** Ends the turn in any phase. Releases the lease in the same append, unless there is more for the driver to do. */
export function endTurn(
  state: ThreadState,
  reason: EndReason,
  { before = [], detail }: { before?: NewEvent[]; detail?: string } = {},
): Proposal | null {
  const { turn } = state;
  if (!turn) return null;
  const { turnId } = turn;
  const open = turn.calls.filter((call) => turn.phase === "calls" && call.state !== "ended");
  const ends = open.map((call) => endOpenCall(call, turnId, reason));
  const step: NewEvent[] = open.length > 0 ? [stepEnd(turn)] : [];
  const unread = unreadNotes(state);
  const isLeft = hasQueued(state.inbox.filter((item) => !unread.includes(item)));
  const held = reason === "aborted" && isLeft ? { held: !turn.hasInputAfterAbort } : {};
  const end: NewEvent = { type: "agent_end", turnId, reason, ...(detail === undefined ? {} : { detail }), ...held };
  const removed = unread.map(({ inputId }): NewEvent => ({ type: "input_removed", inputId }));
  const events: NewEvent[] = [...before, ...ends, ...step, ...removed, end];
  return { events, release: !needsDriving(stateAfter(state, events)) };
}

/** Notes end with the run of a subagent that they were for: a turn that begins with one would be nobody's. */
function unreadNotes({ agent, turn, inbox }: ThreadState): readonly InboxItem[] {
  return turn && worksOnRun(agent, turn) ? inbox.filter(({ note }) => note) : [];
}

/** The end of a call that has not ended when its turn does. */
function endOpenCall(call: Call, turnId: string, reason: EndReason): NewEvent {
  if (call.state === "declined") return endDeclinedCall(call, turnId);
  if (hasReport(call)) return endWithReport(call, turnId);
  if (call.state === "suspended" && call.forChildren)
    return endWithoutResult(call, { turnId, content: `Stopped: ${WHY[reason] ?? "the turn ended"}.` });
  if (call.state !== "started") return endWithoutResult(call, { turnId, content: notRun(reason) });
  const content = "Aborted while it ran: its outcome is unknown, verify before retrying.";
  return endWithoutResult(call, { turnId, content, unknown: true });
}

const WHY: Partial<Record<EndReason, string>> = {
  declined: "another call was declined",
  aborted: "the turn was aborted",
  error: "the turn ended with an error",
};

/** Tells the model why a call was not run. */
export const notRun = (reason: EndReason): string => `Not run: ${WHY[reason] ?? "the turn ended"}.`;

/** In the `details` of the result of a call that a person, or `onAsk` in the place of a person, has declined. */
export const DECLINED = "DECLINED";

/** The end of a declined call, with the message of the person as its result. */
export const endDeclinedCall = (call: Call, turnId: string): NewEvent =>
  endWithoutResult(call, {
    turnId,
    content: call.remark ?? "Declined by the user.",
    details: { code: DECLINED },
  });

/** The end of a call whose child has ended: the child's report is the result. */
export function endWithReport(call: Call, turnId: string): NewEvent {
  const { toolCallId, toolName, data } = call;
  const { result, isError, durationMs } = data as unknown as ChildReport;
  return { type: "tool_end", turnId, toolCallId, toolName, result, isError, durationMs, ...editedArgs(call) };
}

/** The end of a call whose tool returned no result. `unknown`: the call may have had its effect. */
export function endWithoutResult(
  call: Call,
  { turnId, content, unknown, details }: { turnId: string; content: string; unknown?: true; details?: Json },
): NewEvent {
  const { toolCallId, toolName } = call;
  const end = {
    type: "tool_end" as const,
    turnId,
    toolCallId,
    toolName,
    result: { content, ...(details === undefined ? {} : { details }) },
    isError: true,
    durationMs: 0,
    ...editedArgs(call),
  };
  return unknown ? { ...end, unknown } : end;
}

export const stepEnd = ({ turnId, finishReason, usage }: Turn): NewEvent => ({
  type: "step_end",
  turnId,
  finishReason,
  usage,
});

/** Ends the step if these events end its last call, and releases the lease if the turn waits for a person. */
export function afterCall(state: ThreadState, events: NewEvent[]): Proposal {
  const { turn } = stateAfter(state, events);
  if (!turn) return { events };
  if (turn.phase === "model" && turn.calls.length > 0) return { events: [...events, stepEnd(turn)] };
  return { events, release: isWaiting(turn) && !turn.aborting };
}

/** Records which started calls a closing driver has not run, so that the next driver may run them. */
export function handBack(
  { turn }: ThreadState,
  runnable: ReadonlyMap<string, { readonly wasInterrupted: boolean }>,
): Proposal | null {
  const isUnstarted = ({ state, toolCallId }: Call) =>
    state === "started" && runnable.get(toolCallId)?.wasInterrupted === false;
  const calls = turn?.calls.filter(isUnstarted) ?? [];
  if (!turn || calls.length === 0) return null;
  const { turnId, modeId, modelId } = turn;
  const unstarted = calls.map(({ toolCallId }) => toolCallId);
  return { events: [{ type: "agent_start", turnId, modeId, modelId, resumed: true, unstarted }], release: true };
}
