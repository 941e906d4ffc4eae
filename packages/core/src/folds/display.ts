import type { DurableEvent, HarnessEvent, ThreadStatus } from "../events/event-map.ts";
import { tokensOf } from "../events/usage.ts";
import { isNewer } from "../events/versions.ts";
import { asksPerson, CallsDraft, requestedCall, type Call } from "./call.ts";
import type {
  ActiveSubagent,
  ActiveTool,
  HarnessDisplayState,
  PendingApproval,
  PendingSuspension,
} from "./display-state.ts";
import { newParts, reduceParts, reducePartsAll, type DisplayParts } from "./display-parts.ts";
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
  return reduceDisplayAll(before, [event]);
}

/** Gives the same result as folding one event at a time, with fewer copies. */
export function reduceDisplayAll(before: HarnessDisplayState, events: readonly HarnessEvent[]): HarnessDisplayState {
  const resync = events.findLastIndex(({ type }) => type === "resync");
  if (resync >= 0) {
    const { displayState } = events[resync] as HarnessEvent & { type: "resync" };
    return resync === events.length - 1 ? displayState : reduceDisplayAll(displayState, events.slice(resync + 1));
  }
  const { progress, parts } = known.get(before) ?? sourcesOf(before);
  const draft = new CallsDraft();
  const durable = events.filter((event): event is DurableEvent & HarnessEvent => "v" in event && !isNewer(event));
  const next = durable.reduce((state, event) => reduceProgress(state, event, draft), progress);
  const [only] = events;
  return displayOf(next, events.length === 1 ? reduceParts(parts, only!) : reducePartsAll(parts, events));
}

/** The display of a thread: a view of its progress, and its display parts. */
export function displayOf(progress: Progress, parts: DisplayParts): HarnessDisplayState {
  const { partialResults, ...shown } = parts;
  const view = viewOf(progress, parts.threadId);
  const activeTools = withPartial(view.activeTools, partialResults);
  const state = { ...view, ...shown, activeTools, ...ofTree(progress, view, parts) };
  known.set(state, { progress, parts });
  return state;
}

/** What is pending in descendants is pending here too, and the status is that of the whole tree. */
function ofTree(progress: Progress, view: View, { activeSubagents }: DisplayParts): Partial<HarnessDisplayState> {
  const active = Object.values(activeSubagents).filter(({ endedAt }) => endedAt === null);
  if (active.length === 0) return {};
  const approvals = active.flatMap((one) => Object.values(one.pendingApprovals));
  const suspensions = active.flatMap((one) => Object.values(one.pendingSuspensions));
  const pendingApprovals = { ...view.pendingApprovals, ...byThread(approvals) };
  // The end of a subagent that is idle is about to be recorded.
  const ofSubagents = active.map((one) => (one.status === "idle" ? "running" : one.status));
  const status = statusOfTree([threadStatus(progress), ...ofSubagents]);
  return {
    status,
    isRunning: status === "running",
    pendingApproval: Object.values(pendingApprovals).toSorted((a, b) => a.at - b.at)[0] ?? null,
    pendingApprovals,
    pendingSuspensions: { ...view.pendingSuspensions, ...byThread(suspensions) },
  };
}

function statusOfTree(statuses: readonly ActiveSubagent["status"][]): HarnessDisplayState["status"] {
  return (["running", "waiting", "parked"] as const).find((status) => statuses.includes(status)) ?? "idle";
}

const byThread = <T extends { threadId: string; toolCallId: string }>(items: readonly T[]): Record<string, T> =>
  Object.fromEntries(items.map((item) => [`${item.threadId}:${item.toolCallId}`, item]));

type View = Omit<HarnessDisplayState, keyof DisplayParts>;

/** A cache: between two durable events, the progress stays the same object. */
const views = new WeakMap<Progress, { threadId: string | null; view: View }>();

function viewOf(progress: Progress, threadId: string | null): View {
  const last = views.get(progress);
  if (last?.threadId === threadId) return last.view;
  const view = newView(progress, threadId ?? "");
  views.set(progress, { threadId, view });
  return view;
}

function newView(progress: Progress, threadId: string): View {
  const { title, turn, inbox, tasks, previousTasks, usage, spent, lastError } = progress;
  const own = threadStatus(progress);
  const status = own === "delegating" ? "running" : own;
  return {
    title,
    status,
    isRunning: status === "running",
    turnId: turn?.turnId ?? null,
    activeTools: byId(openCalls(turn).map(activeTool)),
    ...pendingIn(turn, threadId),
    inbox,
    queuedFollowUps: inbox.filter((item) => item.delivery !== "steer").length,
    tasks,
    previousTasks,
    tokenUsage: usage,
    cost: spent.unpriced || tokensOf(usage) === 0 ? null : spent.cost,
    lastError,
  };
}

/** The status of the thread alone. */
export function threadStatus({ turn, inbox, held, parked }: Progress): ThreadStatus {
  if (parked) return "parked";
  if (turn && isWaiting(turn)) return turn.calls.some(asksPerson) ? "waiting" : "delegating";
  if (turn) return "running";
  return inbox.length > 0 && !held ? "running" : "idle";
}

const openCalls = (turn: OpenTurn | null): readonly Call[] =>
  turn?.calls.filter(({ state }) => state !== "ended") ?? [];

const STATUS = {
  requested: "pending",
  declined: "pending",
  resumed: "pending",
  started: "running",
  asking: "waiting",
  suspended: "waiting",
} as const;

const activeTool = ({ toolCallId, toolName, input, state, forChildren }: Call): ActiveTool => ({
  toolCallId,
  toolName,
  args: input,
  status: state === "ended" ? "pending" : STATUS[state],
  forChildren: state === "suspended" && forChildren,
  partialResult: null,
});

function withPartial(tools: View["activeTools"], partial: DisplayParts["partialResults"]): View["activeTools"] {
  const updated = Object.entries(partial).filter(([id]) => Object.hasOwn(tools, id));
  if (updated.length === 0) return tools;
  return {
    ...tools,
    ...Object.fromEntries(updated.map(([id, partialResult]) => [id, { ...tools[id]!, partialResult }])),
  };
}

type Pending = Pick<HarnessDisplayState, "pendingApproval" | "pendingApprovals" | "pendingSuspensions">;

/** The calls that wait for a person, oldest question first. In a turn that is about to end, no call waits. */
function pendingIn(turn: OpenTurn | null, threadId: string): Pending {
  const calls = turn && !turn.endsAfterCalls ? openCalls(turn).toSorted((a, b) => a.questionSeq - b.questionSeq) : [];
  const approvals = calls.filter(({ state }) => state === "asking").map((call) => pendingApproval(call, threadId));
  const suspended = calls.filter((call) => call.state === "suspended" && !call.forChildren);
  const suspensions = suspended.map((call) => pendingSuspension(call, threadId));
  return {
    pendingApproval: approvals[0] ?? null,
    pendingApprovals: byId(approvals),
    pendingSuspensions: byId(suspensions),
  };
}

function pendingApproval(call: Call, threadId: string): PendingApproval {
  const { toolCallId, toolName, input: args, questionSeq: seq, questionAt: at } = call;
  const { interrupt: _, grantTo: __, ...approval } = call.approval!;
  return { threadId, toolCallId, toolName, args, ...approval, seq, at };
}

const pendingSuspension = (call: Call, threadId: string): PendingSuspension => {
  const { toolCallId, toolName, input: args, payload: suspendPayload, questionSeq: seq, questionAt: at } = call;
  return { threadId, path: [], toolCallId, toolName, args, suspendPayload, seq, at };
};

const byId = <T extends { toolCallId: string }>(items: readonly T[]): Readonly<Record<string, T>> =>
  Object.fromEntries(items.map((item) => [item.toolCallId, item]));

/** Reconstructs the sources of a display state that another process computed, as far as a display needs them. */
function sourcesOf(display: HarnessDisplayState): Sources {
  const { status, cost, tokenUsage: usage, inbox, activeTools } = display;
  const spent = { ...newProgress.spent, cost: cost ?? 0, unpriced: cost === null && tokensOf(usage) > 0 };
  const held = status === "idle" && inbox.length > 0;
  const progress = {
    ...newProgress,
    ...display,
    turn: turnOf(display),
    held,
    parked: status === "parked",
    usage,
    spent,
  };
  const partial = Object.values(activeTools).filter(({ partialResult }) => partialResult !== null);
  const partialResults = Object.fromEntries(partial.map((tool) => [tool.toolCallId, tool.partialResult]));
  const { threadId, seq, messages, modifiedFiles, modeId, modelId, currentMessage, toolInputBuffers } = display;
  const { activeSubagents, omProgress } = display;
  const shown = { threadId, seq, messages, modifiedFiles, modeId, modelId, currentMessage, toolInputBuffers };
  return { progress, parts: { ...shown, activeSubagents, omProgress, partialResults } };
}

function turnOf({ turnId, activeTools, pendingApprovals, pendingSuspensions }: HarnessDisplayState): OpenTurn | null {
  if (turnId === null) return null;
  const calls = Object.values(activeTools).map((tool) =>
    callOf(tool, pendingApprovals[tool.toolCallId], pendingSuspensions[tool.toolCallId]),
  );
  // A call that waits but is not pending shows that another call was declined without a message.
  const endsAfterCalls = calls.some(({ state, questionSeq }) => state === "asking" && questionSeq === 0);
  return { ...newTurn(turnId), calls, phase: calls.length > 0 ? "calls" : "model", endsAfterCalls };
}

const STATES = { pending: "requested", running: "started", waiting: "asking" } as const;

function callOf(
  { toolCallId, toolName, args: input, status, forChildren }: ActiveTool,
  asking?: PendingApproval,
  suspended?: PendingSuspension,
): Call {
  const call: Call = { ...requestedCall, toolCallId, toolName, input, state: STATES[status] };
  if (forChildren) return { ...call, state: "suspended", forChildren };
  if (asking)
    return {
      ...call,
      approval: { ...asking, interrupt: false, grantTo: null },
      questionSeq: asking.seq,
      questionAt: asking.at,
    };
  if (!suspended) return call;
  const { suspendPayload: payload, seq: questionSeq, at: questionAt } = suspended;
  return { ...call, state: "suspended", payload, questionSeq, questionAt };
}
