import { CinchError } from "./errors.ts";
import { refuseForeign } from "./input.ts";
import type { DurableEvent, NewEvent } from "./events.ts";
import { yoloUpdate } from "./folds/control.ts";
import { noFiles, reduceFiles } from "./folds/files.ts";
import type { ThreadState } from "./folds/state.ts";
import type { FileDiff, FileRestore, HeldFiles, RewoundFile, ThreadFiles } from "./files.ts";
import { hasTrees } from "./turn/decide.ts";
import type { Thread } from "./thread.ts";
import { historiesOf, undoing } from "./undo.ts";
import type { FileReach, Undo } from "./workspace.ts";

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
}

/** Takes conversation, files, or both back. A turn that runs is aborted first; the journal keeps what was taken back. */
export async function rewindThread(thread: Thread, options: RewindOptions): Promise<RewindResult> {
  const { toSeq, conversation = true, files = false, overwrite = false, dryRun = false } = options;
  if (!conversation && !files)
    throw new CinchError("INVALID_INPUT", "Nothing to take back: give files: true, or leave conversation out.");
  if (files) undoOf(thread);
  await thread.refresh();
  checkSeq("toSeq", toSeq, thread.state.seq);
  const look = async () => {
    const lost = await thread.read({ after: toSeq });
    const messages = conversation ? lost.filter((event) => event.type === "message_end").length : 0;
    return { messages, found: files ? await plan(thread, lost, overwrite) : [] };
  };
  if (dryRun) {
    const { messages, found } = await look();
    return { toSeq, messages, files: found.map(({ file }) => file) };
  }
  refuseForeign(thread.state.foreign);
  for (;;) {
    await stop(thread);
    const { seq } = thread.state;
    const { messages, found } = await look();
    const restore = found.flatMap((one) => (one.restore ? { ...one.restore, rewound: conversation } : []));
    const kept = conversation && !files ? await heldSince(thread, toSeq) : [];
    // If anything has happened meanwhile, it has to be looked at again.
    const done = await thread.appendAlone((state) => {
      if (state.seq !== seq || state.turn) return null;
      const events: NewEvent[] = conversation ? [cut(state, { toSeq, files }), ...kept] : [];
      if (restore.length > 0) events.push({ type: "checkpoint_created", reason: "restore", restore });
      return events.length > 0 ? events : null;
    });
    if (!done && !(thread.state.seq === seq && !conversation)) continue;
    return { toSeq, messages, files: await taken(thread, found, restore) };
  }
}

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
  const open = (state: ThreadState) => state.turn !== null || state.files.restoring !== null || hasTrees(state);
  await thread.command(({ turn }) => {
    return turn && !turn.aborting ? [{ type: "abort_requested", turnId: turn.turnId }] : null;
  });
  const isStopped = (state: ThreadState) => (thread.ports.workspace?.undo ? !open(state) : state.turn === null);
  if (!(await thread.until(isStopped))) throw notNow();
}

async function plan(thread: Thread, lost: readonly DurableEvent[], overwrite: boolean | readonly string[]) {
  const histories = historiesOf(lost);
  const paths = histories.map(({ path }) => path);
  const now = await undoOf(thread).look(paths, reachOf(thread));
  const chosen = (path: string) => (typeof overwrite === "boolean" ? overwrite : overwrite.includes(path));
  return histories.map((history) => undoing(history, now.get(history.path), chosen(history.path)));
}

/** Files of the journal go back with it. Where only the conversation is to go back, they are put where they were. */
async function heldSince(thread: Thread, toSeq: number): Promise<NewEvent[]> {
  const now = thread.state.files.held;
  const then = (await thread.read({ upTo: toSeq })).reduce(reduceFiles, noFiles).held;
  const paths = [...new Set([...Object.keys(now), ...Object.keys(then)])];
  const differs = (path: string) => now[path]?.seq !== then[path]?.seq;
  return paths.filter(differs).map((path): NewEvent => {
    const [before, after] = [versionIn(then, path), versionIn(now, path)];
    return { type: "file_changed", path, operation: "restore", before, after, held: true };
  });
}

const versionIn = (held: HeldFiles, path: string) => (Object.hasOwn(held, path) ? held[path]!.version : null);

/** Waits until the files are back, and says what became of them. */
async function taken(
  thread: Thread,
  found: Awaited<ReturnType<typeof plan>>,
  restore: readonly FileRestore[],
): Promise<RewoundFile[]> {
  if (restore.length > 0) {
    thread.wake();
    if (!(await thread.until(({ files }) => files.restoring === null))) throw notNow();
  }
  const failed = new Map((thread.state.files.restored?.files ?? []).map((file) => [file.path, file]));
  return found.map(({ file, restore: asked }) => {
    const actual = asked && failed.get(file.path);
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
    held: async () => thread.state.files.held,
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
