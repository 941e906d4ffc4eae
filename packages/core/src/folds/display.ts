import type { DurableEvent, HarnessEvent, ThreadStatus } from "../events/event-map.ts";
import { tokensOf } from "../events/usage.ts";
import { isNewer } from "../events/versions.ts";
import { CallsDraft } from "./call.ts";
import type { ActiveSubagent, ActiveTool, HarnessDisplayState } from "./display-state.ts";
import { asksPerson, isUnended, type OpenCall } from "./open-call.ts";
import { hasQueued, isScheduled } from "./inbox.ts";
import { isActiveSubagent } from "./active-subagents.ts";
import { newParts, noProgress, reduceParts, reducePartsAll, withoutLive, type DisplayParts } from "./display-parts.ts";
import { isWaiting, newProgress, newTurn, reduceProgress, type OpenTurn, type Progress } from "./progress.ts";

/** The states that a display state is computed from. */
interface Sources {
  progress: Progress;
  parts: DisplayParts;
}

/** The sources of the display states that this process computed. `sourcesOf` reconstructs those of other display states. */
const known = new WeakMap<HarnessDisplayState, Sources>();

export const newDisplayState = (threadId: string | null): HarnessDisplayState =>
  displayOf(newProgress, newParts(threadId));

/** Pure, and O(1) for a text delta whatever the thread's length. Events of a newer release are skipped. */
export function reduceDisplay(before: HarnessDisplayState, event: HarnessEvent): HarnessDisplayState {
  if (event.type === "resync") return event.displayState;
  const { progress, parts } = sourcesOf(before);
  return displayOf(isFolded(event) ? reduceProgress(progress, event) : progress, reduceParts(parts, event));
}

/** Gives the same result as folding one event at a time, with fewer copies. */
export function reduceDisplayAll(before: HarnessDisplayState, events: readonly HarnessEvent[]): HarnessDisplayState {
  const resync = events.findLastIndex(({ type }) => type === "resync");
  if (resync >= 0) return reduceDisplayAll(reduceDisplay(before, events[resync]!), events.slice(resync + 1));
  if (events.length === 0) return before;
  const { progress, parts } = sourcesOf(before);
  const draft = new CallsDraft();
  const next = events.filter(isFolded).reduce((state, event) => reduceProgress(state, event, draft), progress);
  return displayOf(next, reducePartsAll(parts, events));
}

/** Removes what only live events have said. A client that reconnects does this first, because it gets that again. */
export function durableDisplay(display: HarnessDisplayState): HarnessDisplayState {
  const { progress, parts } = sourcesOf(display);
  return displayOf(progress, withoutLive(parts));
}

const isFolded = (event: HarnessEvent): event is HarnessEvent & DurableEvent => "v" in event && !isNewer(event);

/** The display of a thread: a view of its progress, and its display parts. */
export function displayOf(progress: Progress, parts: DisplayParts): HarnessDisplayState {
  const { callProgress, ...shown } = parts;
  const view = viewOf(progress);
  const activeTools = withProgress(view.activeTools, callProgress);
  const state = { ...shown, ...view, activeTools, ...ofTree(view, parts) };
  known.set(state, { progress, parts });
  return state;
}

/** What is pending in descendants is pending here too, and the status is that of the whole tree. */
function ofTree(view: View, { activeSubagents }: DisplayParts) {
  const active = Object.values(activeSubagents).filter(isActiveSubagent);
  // The end of a subagent that is idle is about to be recorded.
  const ofSubagents = active.map((one) => (one.status === "idle" ? "running" : one.status));
  const status = statusOfTree([view.status, ...ofSubagents]);
  const shown = { status, isRunning: status === "running" };
  if (active.length === 0) return shown;
  const approvals = active.flatMap((one) => Object.values(one.pendingApprovals));
  const suspensions = active.flatMap((one) => Object.values(one.pendingSuspensions));
  const pendingApprovals = { ...view.pendingApprovals, ...byThread(approvals) };
  const pendingSuspensions = { ...view.pendingSuspensions, ...byThread(suspensions) };
  const [oldest = null] = Object.values(pendingApprovals).toSorted((a, b) => a.at - b.at);
  return { ...shown, pendingApproval: oldest, pendingApprovals, pendingSuspensions };
}

/** A thread that delegates is `running`, unless its subagents are known to wait or to be parked. */
function statusOfTree(statuses: readonly ActiveSubagent["status"][]): HarnessDisplayState["status"] {
  const first = (["running", "waiting", "parked", "delegating"] as const).find((status) => statuses.includes(status));
  return first === "delegating" ? "running" : (first ?? "idle");
}

const byThread = <T extends { threadId: string; toolCallId: string }>(items: readonly T[]): Record<string, T> =>
  Object.fromEntries(items.map((item) => [`${item.threadId}:${item.toolCallId}`, item]));

/** The status is that of the thread alone. */
type View = Omit<HarnessDisplayState, keyof DisplayParts | "status" | "isRunning"> & { status: ThreadStatus };

/** A cache: between two durable events, the progress stays the same object. */
const views = new WeakMap<Progress, View>();

function viewOf(progress: Progress): View {
  const view = views.get(progress) ?? newView(progress);
  views.set(progress, view);
  return view;
}

function newView(progress: Progress): View {
  const { title, turn, inbox, tasks, previousTasks, usage, spent, lastError, held, parked, compacting } = progress;
  const { aborting, endsAfterCalls, hasInputAfterAbort } = turn ?? newTurn();
  return {
    title,
    status: threadStatus(progress),
    turnId: turn?.turnId ?? null,
    activeTools: byId(unendedCalls(turn).map(activeTool)),
    ...pendingIn(turn),
    inbox,
    queuedFollowUps: inbox.filter((item) => item.delivery !== "steer" && !isScheduled(item)).length,
    tasks,
    previousTasks,
    tokenUsage: usage,
    cost: spent.unpriced || tokensOf(usage) === 0 ? null : spent.cost,
    lastError,
    flags: { held, parked, compacting, aborting, endsAfterCalls, hasInputAfterAbort },
  };
}

/** The status of the thread alone. */
export function threadStatus({ turn, inbox, held, parked, compacting }: Progress): ThreadStatus {
  if (parked) return "parked";
  if (compacting) return "running";
  if (turn && isWaiting(turn)) return turn.calls.some(asksPerson) ? "waiting" : "delegating";
  if (turn) return "running";
  return hasQueued(inbox) && !held ? "running" : "idle";
}

const unendedCalls = (turn: OpenTurn | null): readonly OpenCall[] => turn?.calls.filter(isUnended) ?? [];

const STATUS: Partial<Record<OpenCall["state"], ActiveTool["status"]>> = {
  started: "running",
  asking: "waiting",
  suspended: "waiting",
};

const activeTool = ({ toolCallId, toolName, args, state, forChildren }: OpenCall): ActiveTool => ({
  toolCallId,
  toolName,
  args,
  status: STATUS[state] ?? "pending",
  forChildren: state === "suspended" && forChildren,
  ...noProgress,
});

function withProgress(tools: View["activeTools"], progress: DisplayParts["callProgress"]): View["activeTools"] {
  const ids = Object.keys(progress).filter((id) => Object.hasOwn(tools, id));
  if (ids.length === 0) return tools;
  return { ...tools, ...byId(ids.map((id) => ({ ...tools[id]!, ...progress[id]! }))) };
}

type Pending = Pick<HarnessDisplayState, "pendingApproval" | "pendingApprovals" | "pendingSuspensions">;

/** What calls ask a person, oldest question first. In a turn that is about to end, no call waits. */
function pendingIn(turn: OpenTurn | null): Pending {
  const calls = turn?.endsAfterCalls ? [] : unendedCalls(turn).filter(asksPerson);
  const approvals = oldestFirst(calls.map(({ state, approval }) => (state === "asking" ? approval : null)));
  const suspensions = oldestFirst(calls.map(({ state, suspension }) => (state === "suspended" ? suspension : null)));
  return {
    pendingApproval: approvals[0] ?? null,
    pendingApprovals: byId(approvals),
    pendingSuspensions: byId(suspensions),
  };
}

const oldestFirst = <T extends { seq: number }>(questions: readonly (T | null)[]): T[] =>
  questions.filter((question) => question !== null).toSorted((a, b) => a.seq - b.seq);

const byId = <T extends { toolCallId: string }>(items: readonly T[]): Readonly<Record<string, T>> =>
  Object.fromEntries(items.map((item) => [item.toolCallId, item]));

const sourcesOf = (display: HarnessDisplayState): Sources => known.get(display) ?? reconstructed(display);

/** Reconstructs the sources of a display state that another process computed, as far as a display needs them. */
function reconstructed(display: HarnessDisplayState): Sources {
  const { flags, cost, tokenUsage: usage, activeTools } = display;
  const spent = { ...newProgress.spent, cost: cost ?? 0, unpriced: cost === null && tokensOf(usage) > 0 };
  const progress = { ...display, ...flags, turn: turnOf(display), usage, spent };
  const shown = Object.values(activeTools).map(({ toolCallId, partialResult, output }) => [
    toolCallId,
    { partialResult, output },
  ]);
  return { progress, parts: { ...display, callProgress: Object.fromEntries(shown) as DisplayParts["callProgress"] } };
}

function turnOf(display: HarnessDisplayState): OpenTurn | null {
  const { turnId, activeTools, pendingApprovals, pendingSuspensions, flags } = display;
  if (turnId === null) return null;
  const calls = Object.values(activeTools).map((tool): OpenCall => {
    const { toolCallId, status, forChildren } = tool;
    const approval = pendingApprovals[toolCallId] ?? null;
    const suspension = pendingSuspensions[toolCallId] ?? null;
    const state = forChildren || suspension ? "suspended" : STATES[status];
    return { ...tool, state, approval, suspension };
  });
  return { ...newTurn(turnId), ...flags, calls, phase: calls.length > 0 ? "calls" : "model" };
}

const STATES = { pending: "requested", running: "started", waiting: "asking" } as const;
