import { noteId, ownerOf } from "../config/run-id.ts";
import { CinchError } from "../errors.ts";
import { abortRequest } from "./abort.ts";
import { refuseForeign } from "./refuse-foreign.ts";
import type { DurableEvent, NewEvent } from "../events/event-map.ts";
import type { Json } from "../events/message.ts";
import { subtractUsage } from "../events/usage.ts";
import { newControl, pathRulesField, reduceControl, yoloUpdate, type Control } from "../folds/control.ts";
import { commandsAtRewind } from "../folds/given-commands.ts";
import { noFiles, reduceFiles, type FilesState } from "../folds/files.ts";
import { hasCancelledRuns, hasUncancelledRuns, type Runs } from "../folds/runs.ts";
import type { ThreadState } from "../folds/state.ts";
import { trieEntries, trieGet, trieRecord } from "../folds/trie.ts";
import type { FileDiff, HeldFiles, RewoundFile, ThreadFiles } from "../events/files.ts";
import { hasUnrecordedChanges } from "../turn/decide.ts";
import { withTimeout } from "../ports/clock.ts";
import { endsRecorded } from "../thread/ends-recorded.ts";
import type { Again, SignedThread } from "../thread/signed-thread.ts";
import type { Thread } from "../thread/thread.ts";
import { checkSeq, refuseReverted } from "./refuse-reverted.ts";
import { refuseUndriven } from "./refuse-undriven.ts";
import { treeHistory } from "./tree-history.ts";
import { asConflict, historiesOf, planRevert, type FileHistory, type FileRevert } from "./file-history.ts";
import type { FileReach, Undo } from "../ports/workspace.ts";

export interface RewindOptions {
  /** Events up to this one stay in force. */
  toSeq: number;
  /** Revert the conversation; default `true`. */
  conversation?: boolean;
  /** Revert files; default `false`. */
  files?: boolean;
  /** Files to revert even if another program changed them since: paths, or `true` for all. */
  overwrite?: boolean | readonly string[];
  /** Report what would happen, and change nothing. */
  dryRun?: boolean;
}

export interface RewindResult {
  toSeq: number;
  /** How many messages are reverted. */
  messages: number;
  /** The outcome of each file that the thread has changed since. */
  files: RewoundFile[];
  /** Why the changes of commands are not recorded: there may be more to revert. */
  untracked: string[];
}

/** Reverts conversation, files, or both. A running turn is aborted first. The journal keeps what was reverted. */
export async function rewindThread(signed: SignedThread, options: RewindOptions): Promise<RewindResult> {
  const { thread } = signed;
  const { toSeq, conversation = true, files = false, dryRun = false } = options;
  if (!conversation && !files)
    throw new CinchError("INVALID_INPUT", "There is nothing to revert: give files: true, or leave out conversation.");
  if (files) undoOf(thread);
  await thread.refresh();
  // Files can also be as they were before a rewind.
  const check = async () => (conversation ? refuseReverted : checkSeq)(thread, "toSeq", toSeq);
  await check();
  if (dryRun) return (await planRewind(thread, options)).result;
  refuseForeign(thread.state.foreign);
  // A driver restores the files, in the mode that the rewind leaves.
  const modeThen = files && conversation ? await controlAt(thread, toSeq) : null;
  const refuseUnrestored = ({ control }: ThreadState) =>
    files && refuseUndriven(thread.ports.modes, modeThen ?? control);
  refuseUnrestored(thread.state);
  for (;;) {
    await settleWork(signed.unmarked);
    if (conversation && files) await endCutRuns(signed.unmarked, toSeq);
    if (conversation) await endsRecorded(thread);
    const { seq } = thread.state;
    // Another process may have rewound the thread meanwhile.
    await check();
    const { result, events, cutEnds } = await planRewind(thread, options);
    // The plan holds only for the state that it was made from.
    const isAppended = await signed.appendAlone((state) => {
      if (state.seq !== seq || state.turn) return null;
      refuseUnrestored(state);
      const answer = result as unknown as Json;
      if (!conversation) return { events, answer };
      return { events: [rewound(state, { toSeq, files }, cutEnds), ...cutEnds.map(again), ...events], answer };
    });
    if (!isAppended && !(thread.state.seq === seq && !conversation)) continue;
    return rewindEnded(thread, result);
  }
}

/** The result of a rewind that was given before. */
export const rewoundBefore: Again<RewindResult> = (thread, { answer }) =>
  rewindEnded(thread, answer as unknown as RewindResult);

interface RewindPlan {
  result: RewindResult;
  /** To be appended after `thread_rewound`, if there is one. */
  events: NewEvent[];
  /** What recorded the ends of runs whose start stays. It is appended again: the child may have been rewound since, or be deleted. */
  cutEnds: readonly DurableEvent[];
}

async function planRewind(thread: Thread, options: RewindOptions): Promise<RewindPlan> {
  const { toSeq, conversation = true, files = false } = options;
  const own = await thread.read({ after: toSeq });
  const { all: later, inherited } = await treeHistory(thread, own, toSeq);
  const messages = conversation ? own.filter((event) => event.type === "message_end").length : 0;
  const histories = historiesOf(later);
  const cutEnds = cutEndsIn(own, thread.id);
  if (!files) {
    // What its own subagents alone have changed stays known by their journals.
    const changed = new Set(historiesOf(inherited).map(({ path }) => path));
    const kept = histories.filter(({ path }) => changed.has(path)).map(keptChange);
    const events = conversation ? [...(await keepHeldFiles(thread, toSeq)), ...kept] : [];
    return { result: { toSeq, messages, files: [], untracked: [] }, events, cutEnds };
  }
  const reverts = await planReverts(thread, histories, options.overwrite ?? false);
  const untracked = later.flatMap((event) =>
    event.type === "checkpoint_created" && event.untracked !== undefined ? [event.untracked] : [],
  );
  const result = { toSeq, messages, files: reverts.map(({ file }) => file), untracked: [...new Set(untracked)] };
  const filesState = conversation ? await filesAt(thread, toSeq) : thread.state.files;
  const restore = reverts
    .flatMap(({ restore: one }) => (one ? { ...one, rewound: conversation } : []))
    .map((one) => {
      // `seen` has the hash of a file that the thread wrote, but the backend's version of one that it only read. A restored file
      // gets a new version, so only the former counts as seen.
      const isSeen = trieGet(filesState.seen, one.path) === (one.to?.hash ?? null);
      return isSeen ? { ...one, seen: true } : one;
    });
  // The journals of subagents keep their changes, also of a file that is back already.
  const changedBelow = pathsBelow(later, own);
  const isLeft = ({ file, restore: one }: FileRevert) =>
    conversation && !one && (file.outcome !== "unchanged" || changedBelow.has(file.path));
  const left = reverts.filter(isLeft).map(({ pending }) => pending);
  if (restore.length === 0 && left.length === 0) return { result, events: [], cutEnds };
  const notReverted = left.length > 0 ? { left } : {};
  const restoring: NewEvent = { type: "checkpoint_created", reason: "restore", restore, ...notReverted };
  return { result, events: [restoring], cutEnds };
}

function pathsBelow(later: readonly DurableEvent[], own: readonly DurableEvent[]): ReadonlySet<string> {
  const known = new Set(own);
  return new Set(historiesOf(later.filter((event) => !known.has(event))).map(({ path }) => path));
}

function cutEndsIn(events: readonly DurableEvent[], threadId: string): DurableEvent[] {
  const begun = new Set(events.flatMap(runsBegunBy));
  const isCut = (runId: string) => ownerOf(runId) === threadId && !begun.has(runId);
  const ended = events.flatMap((event) => (event.type === "subagent_end" ? [event.runId] : [])).filter(isCut);
  const [runIds, noteIds] = [new Set(ended), new Set(ended.map(noteId))];
  return events.filter((event) => {
    if (event.type === "input_accepted") return noteIds.has(event.inputId);
    return (event.type === "subagent_end" || event.type === "background_settled") && runIds.has(event.runId);
  });
}

/** `by`: the person who rewinds has not written it. */
const again = (event: DurableEvent): NewEvent => ({ by: undefined, ...event }) as NewEvent;

function runsBegunBy(event: DurableEvent): string[] {
  if (event.type === "subagent_start") return [event.runId];
  return event.type === "thread_rewound" ? (event.runs ?? []).map(({ runId }) => runId) : [];
}

/** Records a change again that stays, although the rewind reverts the event that recorded it; also what subagents did to the file. */
const keptChange = ({ path, operation, before, expected: [after], isShared }: FileHistory): NewEvent => ({
  type: "file_changed",
  path,
  operation: operation === "restore" ? "write" : operation,
  before,
  after,
  ...(isShared ? { shared: true } : {}),
});

/** The changes of the thread to files since an event. */
export async function diffSince(thread: Thread, since: number): Promise<FileDiff[]> {
  const undo = undoOf(thread);
  await thread.refresh();
  if (since !== 0) checkSeq(thread, "since", since);
  const own = await thread.read({ after: since });
  const histories = historiesOf((await treeHistory(thread, own, since)).all);
  return undo.diff(histories, reachOf(thread));
}

function undoOf({ ports: { workspace } }: Thread): Undo {
  if (workspace?.undo) return workspace.undo;
  const why = workspace ? "The workspace has no undo" : "The harness has no workspace";
  throw new CinchError("INVALID_INPUT", `${why}: files can be neither reverted nor compared. Leave files out.`);
}

/** Aborts the turn, and waits until it has ended, files are restored, and the changes of interrupted commands are recorded. */
async function settleWork(signed: SignedThread): Promise<void> {
  const { thread } = signed;
  if (thread.state.files.restoring) undoOf(thread);
  const isBusy = (state: ThreadState) =>
    state.turn !== null || state.files.restoring !== null || hasUnrecordedChanges(state);
  const isSettled = (state: ThreadState) => (thread.ports.workspace?.undo ? !isBusy(state) : state.turn === null);
  do {
    await signed.command(({ turn }) => {
      if (!turn || turn.aborting) return null;
      return { events: [{ type: "abort_requested", turnId: turn.turnId, keepsBackground: true }] };
    });
    const turnId = thread.state.turn?.turnId;
    // A queued input may have begun the next turn before this process has seen the end of the last one.
    const hasNext = ({ turn }: ThreadState) => turn !== null && turn.turnId !== turnId;
    const isBlocked = () => !isSettled(thread.state) && !thread.state.turn && thread.supervisor.whyBlocked !== null;
    if (!(await thread.until((state) => isSettled(state) || hasNext(state) || isBlocked()))) throw cannotDrive();
    if (isBlocked()) throw thread.supervisor.whyBlocked!;
  } while (!isSettled(thread.state));
}

/** How long a rewind waits for the subagents that it stops. */
const STOP_MS = 2_000;

/** Stops subagents in the background first if the rewind cuts the starts of all of them: they would go on changing files. */
async function endCutRuns(signed: SignedThread, toSeq: number): Promise<void> {
  const { thread } = signed;
  await signed.command((state) => {
    const isCut = Array.from(trieEntries(state.runs.unfinished)).every(([, { seq }]) => seq > toSeq);
    return isCut && hasUncancelledRuns(state.runs) ? abortRequest({})(state) : null;
  });
  const ended = thread.until(({ runs }) => !hasCancelledRuns(runs));
  await withTimeout(thread.ports.clock, ended, { ms: STOP_MS });
}

async function planReverts(
  thread: Thread,
  histories: readonly FileHistory[],
  overwrite: boolean | readonly string[],
): Promise<FileRevert[]> {
  const paths = histories.map(({ path }) => path);
  const current = await undoOf(thread).look(paths, reachOf(thread));
  const mayOverwrite = (path: string) =>
    typeof overwrite === "boolean" ? overwrite : overwrite.includes(path) || overwrite.includes(path.slice(1));
  const reverts = histories.map((history) => {
    const { path } = history;
    return planRevert(history, current.get(path), { overwrite: mayOverwrite(path) });
  });
  const restores = reverts.flatMap(({ restore }) => restore ?? []);
  const obstacles = await undoOf(thread).obstacles(restores, reachOf(thread));
  return reverts.map((revert) => {
    const obstacle = revert.restore && obstacles.get(revert.file.path);
    return obstacle ? asConflict(revert, obstacle) : revert;
  });
}

const filesAt = async (thread: Thread, seq: number): Promise<FilesState> =>
  (await thread.read({ upTo: seq })).reduce(reduceFiles, noFiles);

const controlAt = async (thread: Thread, seq: number): Promise<Control> =>
  (await thread.read({ upTo: seq })).reduce(reduceControl, newControl);

/** A rewind of the conversation would also revert the files that live in the journal. These events restore them. */
async function keepHeldFiles(thread: Thread, toSeq: number): Promise<NewEvent[]> {
  const current = trieRecord(thread.state.files.held);
  const reverted = trieRecord((await filesAt(thread, toSeq)).held);
  const paths = [...new Set([...Object.keys(current), ...Object.keys(reverted)])];
  const differs = (path: string) => current[path]?.seq !== reverted[path]?.seq;
  return paths.filter(differs).map((path): NewEvent => {
    const [before, after] = [versionIn(reverted, path), versionIn(current, path)];
    return { type: "file_changed", path, operation: "restore", before, after, held: true };
  });
}

const versionIn = (held: HeldFiles, path: string) => (Object.hasOwn(held, path) ? held[path]!.version : null);

/** Waits until the driver has restored the files. An outcome differs from the plan where the driver could not restore a file. */
async function rewindEnded(thread: Thread, planned: RewindResult): Promise<RewindResult> {
  if (thread.state.files.restoring) {
    thread.wake();
    const isBlocked = () => thread.state.files.restoring !== null && thread.supervisor.whyBlocked !== null;
    if (!(await thread.until(({ files }) => files.restoring === null || isBlocked()))) throw cannotDrive();
    if (isBlocked()) throw thread.supervisor.whyBlocked!;
  }
  const restored = new Map((thread.state.files.restored?.files ?? []).map((file) => [file.path, file]));
  const files = planned.files.map((file) => {
    const actual = REVERTED.has(file.outcome) ? restored.get(file.path) : undefined;
    return actual && (actual.outcome === "conflict" || actual.outcome === "failed") ? actual : file;
  });
  return { ...planned, files };
}

/** The outcomes of files that the driver has to restore. */
const REVERTED: ReadonlySet<string> = new Set<RewoundFile["outcome"]>(["restored", "deleted"]);

const cannotDrive = (): CinchError =>
  new CinchError(
    "CLOSED",
    "This process can't drive the thread any more. The rewind continues when the thread is opened again.",
  );

/** Read-only: nothing is recorded. */
function reachOf(thread: Thread): FileReach {
  const files: ThreadFiles = {
    resourceId: thread.state.resourceId,
    held: async () => trieRecord(thread.state.files.held),
    offloaded: async () => trieRecord(thread.state.files.offloaded),
    blob: (hash) => thread.ports.store.blob(hash),
    seen: () => undefined,
    read: () => undefined,
    print: () => undefined,
    record: () => Promise.resolve(false),
    checkpoint: () => Promise.resolve(),
  };
  return { threadId: thread.id, files };
}

/**
 * The event carries what a rewind must not revert: the title, the agent, rules, grants, YOLO, usage, and that commands were given; and the
 * runs that it cancels.
 */
function rewound(
  { title, agent, usage: total, spent: all, context, control, runs, given }: ThreadState,
  to: { toSeq: number; files: boolean },
  cutEnds: readonly DurableEvent[],
): NewEvent {
  const ends = cutEnds.filter((event) => event.type === "subagent_end");
  const usage = ends.reduce((left, end) => subtractUsage(left, end.usage), total);
  const spent = { ...all, cost: all.cost - ends.reduce((sum, end) => sum + (end.cost ?? 0), 0) };
  const { rules, grants, pathRules } = control.policies;
  const state = yoloUpdate(control.policies);
  const used = { usage, spent, memoryUsed: context.used };
  const kept = { title, rules: [...rules], grants: [...grants], ...used, state, ...pathRulesField(pathRules) };
  const bound = agent ? { agent } : {};
  const commands = commandsAtRewind(given, to.toSeq);
  const known = commands.length === 0 ? {} : { commands };
  return { type: "thread_rewound", ...to, ...kept, ...bound, ...known, ...revertedRuns(runs, to.toSeq) };
}

function revertedRuns({ unfinished }: Runs, toSeq: number): Pick<NewEvent<"thread_rewound">, "runs"> {
  const reverted = Array.from(trieEntries(unfinished), ([, run]) => run).filter(({ seq }) => seq > toSeq);
  if (reverted.length === 0) return {};
  const runs = reverted.map(({ runId, turnId, toolCallId, agentName, childThreadId, path }) => {
    return { runId, turnId, toolCallId, agentName, childThreadId, path };
  });
  return { runs };
}
