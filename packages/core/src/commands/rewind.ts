import { CinchError } from "../errors.ts";
import { refuseForeign } from "./refuse-foreign.ts";
import type { NewEvent } from "../events/event-map.ts";
import { yoloUpdate } from "../folds/control.ts";
import { noFiles, reduceFiles, type FilesState } from "../folds/files.ts";
import type { ThreadState } from "../folds/state.ts";
import { trieGet, trieRecord } from "../folds/trie.ts";
import type { FileDiff, HeldFiles, RewoundFile, ThreadFiles } from "../events/files.ts";
import { hasTrees } from "../turn/decide.ts";
import type { Thread } from "../thread/thread.ts";
import { blocked, historiesOf, undoing, type FileHistory, type Undoing } from "./file-history.ts";
import type { FileReach, Undo } from "../ports/workspace.ts";

export interface RewindOptions {
  /** Events up to this one stay in force. */
  toSeq: number;
  /** Whether what was said is taken back; by default it is. */
  conversation?: boolean;
  /** Whether files are made what they were then. */
  files?: boolean;
  /** Files that somebody else has changed since are left alone, except for these; `true`: all. */
  overwrite?: boolean | readonly string[];
  /** Only say what would be taken back. */
  dryRun?: boolean;
}

export interface RewindResult {
  toSeq: number;
  /** How many messages are taken back. */
  messages: number;
  /** What becomes of the files that the thread has changed since. */
  files: RewoundFile[];
  /** Why there may be more: commands of which nobody knows what they did to files. */
  untold: string[];
}

/** Takes conversation, files, or both back. A turn that runs is aborted first; the journal keeps what was taken back. */
export async function rewindThread(thread: Thread, options: RewindOptions): Promise<RewindResult> {
  const { toSeq, conversation = true, files = false, dryRun = false } = options;
  if (!conversation && !files)
    throw new CinchError("INVALID_INPUT", "Nothing to take back: give files: true, or leave conversation out.");
  if (files) undoOf(thread);
  await thread.refresh();
  checkSeq("toSeq", toSeq, thread.state.seq);
  if (dryRun) return (await plan(thread, options)).result;
  refuseForeign(thread.state.foreign);
  for (;;) {
    await stop(thread);
    const { seq } = thread.state;
    const { result, found, events } = await plan(thread, options);
    // If anything has happened meanwhile, it has to be looked at again.
    const done = await thread.appendAlone((state) => {
      if (state.seq !== seq || state.turn) return null;
      return { events: conversation ? [cut(state, { toSeq, files }), ...events] : events };
    });
    if (!done && !(thread.state.seq === seq && !conversation)) continue;
    return { ...result, files: await taken(thread, found) };
  }
}

interface Plan {
  result: RewindResult;
  found: readonly Undoing[];
  /** What is to be said of files, besides that the conversation goes back. */
  events: NewEvent[];
}

async function plan(thread: Thread, options: RewindOptions): Promise<Plan> {
  const { toSeq, conversation = true, files = false } = options;
  const lost = await thread.read({ after: toSeq });
  const messages = conversation ? lost.filter((event) => event.type === "message_end").length : 0;
  const histories = historiesOf(lost);
  if (!files) {
    const events = conversation ? [...(await heldSince(thread, toSeq)), ...histories.map(carried)] : [];
    return { result: { toSeq, messages, files: [], untold: [] }, found: [], events };
  }
  const found = await undoings(thread, histories, options.overwrite ?? false);
  const untold = lost.flatMap((event) =>
    event.type === "checkpoint_created" && event.untold !== undefined ? [event.untold] : [],
  );
  const result = { toSeq, messages, files: found.map(({ file }) => file), untold: [...new Set(untold)] };
  const then = conversation ? await filesAt(thread, toSeq) : thread.state.files;
  const restore = found
    .flatMap(({ restore: one }) => (one ? { ...one, rewound: conversation } : []))
    .map((one) => {
      // What it has only read goes by the name that a backend gave it, which is another one by now.
      const known = trieGet(then.seen, one.path) === (one.to?.hash ?? null);
      return known ? { ...one, seen: true } : one;
    });
  const left = conversation ? found.flatMap((one) => (one.restore ? [] : (one.left ?? []))) : [];
  if (restore.length === 0 && left.length === 0) return { result, found, events: [] };
  const note = left.length > 0 ? { left } : {};
  return { result, found, events: [{ type: "checkpoint_created", reason: "restore", restore, ...note }] };
}

/** A change that stays although what was said about it goes. */
const carried = ({ path, operation, before, own: [after], shared }: FileHistory): NewEvent => ({
  type: "file_changed",
  path,
  operation: operation === "restore" ? "write" : operation,
  before,
  after,
  ...(shared ? { shared } : {}),
});

/** What the thread has done to files since. */
export async function diffSince(thread: Thread, since: number): Promise<FileDiff[]> {
  const undo = undoOf(thread);
  await thread.refresh();
  if (since !== 0) checkSeq("since", since, thread.state.seq);
  const histories = historiesOf(await thread.read({ after: since }));
  return undo.diff(histories, reachOf(thread));
}

function undoOf({ ports: { workspace } }: Thread): Undo {
  if (workspace?.undo) return workspace.undo;
  const why = workspace ? "This workspace can't take files back" : "There is no workspace";
  throw new CinchError("INVALID_INPUT", `${why}, so there are no files to take back. Leave files out.`);
}

/** A turn that runs ends, what was being restored is, and what commands did that were cut off is known. */
async function stop(thread: Thread): Promise<void> {
  if (thread.state.files.restoring) undoOf(thread);
  const open = (state: ThreadState) => state.turn !== null || state.files.restoring !== null || hasTrees(state);
  await thread.command(({ turn }) => {
    return turn && !turn.aborting ? { events: [{ type: "abort_requested", turnId: turn.turnId }] } : null;
  });
  const isStopped = (state: ThreadState) => (thread.ports.workspace?.undo ? !open(state) : state.turn === null);
  if (!(await thread.until(isStopped))) throw notNow();
}

async function undoings(
  thread: Thread,
  histories: readonly FileHistory[],
  overwrite: boolean | readonly string[],
): Promise<Undoing[]> {
  const paths = histories.map(({ path }) => path);
  const now = await undoOf(thread).look(paths, reachOf(thread));
  const chosen = (path: string) =>
    typeof overwrite === "boolean" ? overwrite : overwrite.includes(path) || overwrite.includes(path.slice(1));
  const found = histories.map((history) => undoing(history, now.get(history.path), chosen(history.path)));
  const restores = found.flatMap(({ restore }) => restore ?? []);
  const obstacles = await undoOf(thread).obstacles(restores, reachOf(thread));
  return found.map((one) => {
    const why = one.restore && obstacles.get(one.file.path);
    return why ? blocked(one, why) : one;
  });
}

const filesAt = async (thread: Thread, seq: number): Promise<FilesState> =>
  (await thread.read({ upTo: seq })).reduce(reduceFiles, noFiles);

/** Files of the journal go back with it. Where only the conversation is to go back, they are put where they were. */
async function heldSince(thread: Thread, toSeq: number): Promise<NewEvent[]> {
  const now = trieRecord(thread.state.files.held);
  const then = trieRecord((await filesAt(thread, toSeq)).held);
  const paths = [...new Set([...Object.keys(now), ...Object.keys(then)])];
  const differs = (path: string) => now[path]?.seq !== then[path]?.seq;
  return paths.filter(differs).map((path): NewEvent => {
    const [before, after] = [versionIn(then, path), versionIn(now, path)];
    return { type: "file_changed", path, operation: "restore", before, after, held: true };
  });
}

const versionIn = (held: HeldFiles, path: string) => (Object.hasOwn(held, path) ? held[path]!.version : null);

/** Waits until the files are back, and says what became of them. */
async function taken(thread: Thread, found: readonly Undoing[]): Promise<RewoundFile[]> {
  if (thread.state.files.restoring) {
    thread.wake();
    if (!(await thread.until(({ files }) => files.restoring === null))) throw notNow();
  }
  const ended = new Map((thread.state.files.restored?.files ?? []).map((file) => [file.path, file]));
  return found.map(({ file, restore }) => {
    const actual = restore && ended.get(file.path);
    return actual && (actual.outcome === "conflict" || actual.outcome === "failed") ? actual : file;
  });
}

const notNow = (): CinchError =>
  new CinchError(
    "CLOSED",
    "The thread can't be driven from here any more. What was begun goes on when it is opened again.",
  );

/** For looking only: nothing is changed from here. */
function reachOf(thread: Thread): FileReach {
  const files: ThreadFiles = {
    resourceId: thread.state.resourceId,
    held: async () => trieRecord(thread.state.files.held),
    blob: (hash) => thread.ports.store.blob(hash),
    seen: () => undefined,
    read: () => undefined,
    print: () => undefined,
    record: () => Promise.resolve(false),
    checkpoint: () => Promise.resolve(),
  };
  return { threadId: thread.id, files };
}

/** What a rewind must not take back goes with it: the title, rules, grants, YOLO, and what was used up. */
function cut({ title, usage, spent, control }: ThreadState, to: { toSeq: number; files: boolean }): NewEvent {
  const { rules, grants } = control.policies;
  const state = yoloUpdate(control.policies);
  return { type: "thread_rewound", ...to, title, rules: [...rules], grants: [...grants], usage, spent, state };
}

export function checkSeq(name: string, seq: number, last: number): void {
  if (Number.isInteger(seq) && seq >= 1 && seq <= last) return;
  throw new CinchError(
    "INVALID_INPUT",
    `${name} is a whole number from 1 to ${last}, the seq of an event of this thread.`,
  );
}
