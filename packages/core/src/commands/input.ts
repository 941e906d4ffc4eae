import { CinchError } from "../errors.ts";
import type { Delivery, NewEvent } from "../events/event-map.ts";
import { NAMED_KEPT } from "../folds/state.ts";
import { outcomeOf } from "../queries/history.ts";
import type { FilePart } from "../events/message.ts";
import { fromBase64 } from "../events/base64.ts";
import { hashOf } from "../ports/hash.ts";
import type { Ids } from "../ports/ids.ts";
import type { Blob } from "../ports/store.ts";
import type { Thread } from "../thread/thread.ts";
import type { TurnResult } from "../thread/turn-results.ts";

/** A file that goes with a message: bytes, base64 text, or a URL that the provider fetches. */
export interface InputFile {
  mediaType: string;
  data: Uint8Array | string | URL;
  filename?: string;
}

export interface Input {
  content: string;
  files?: readonly InputFile[];
  /** Posting the same id again answers the same and does nothing. */
  id?: string;
}

export async function acceptedInput(input: Input, delivery: Delivery, ids: Ids): Promise<Accepted> {
  const { content, files = [], id } = input;
  checkContent(content, files.length);
  const blobs: Blob[] = [];
  const parts = await Promise.all(files.map((file) => storedFile(file, blobs)));
  const named = id === undefined ? {} : { named: true };
  const event = {
    type: "input_accepted" as const,
    inputId: id ?? ids("input"),
    delivery,
    content: content.toWellFormed(),
    ...named,
  };
  return { event: parts.length > 0 ? { ...event, files: parts } : event, blobs };
}

function checkContent(content: string, files = 0): void {
  if (content.trim() === "" && files === 0)
    throw new CinchError("INVALID_INPUT", "content is empty: say something, or attach a file.");
}

async function storedFile({ mediaType, data, filename }: InputFile, blobs: Blob[]): Promise<FilePart> {
  const part = { type: "file" as const, mediaType, ...(filename === undefined ? {} : { filename }) };
  if (data instanceof URL) return { ...part, url: data.href };
  const bytes = typeof data === "string" ? decoded(data) : new Uint8Array(data);
  const hash = await hashOf(bytes);
  blobs.push({ hash, bytes });
  return { ...part, blob: hash };
}

function decoded(text: string): Uint8Array<ArrayBuffer> {
  try {
    return fromBase64(text);
  } catch (cause) {
    throw new CinchError(
      "INVALID_INPUT",
      "A file's data is bytes, a URL, or base64 text; this text is not base64.",
      cause,
    );
  }
}

/** The command for an input, and the bytes that go with it. */
interface Accepted {
  event: NewEvent<"input_accepted">;
  blobs: readonly Blob[];
}

/** `undefined` if it was accepted now; otherwise where an input of this id was accepted before, and nothing is done. */
async function accept(thread: Thread, { event, blobs }: Accepted): Promise<number | undefined> {
  const { id, ports } = thread;
  const asked = thread.state.seq;
  const known = event.named ? await ports.store.findInput(id, event.inputId) : undefined;
  let isKnown = known !== undefined;
  let isStale = false;
  await thread.command(({ seq, foreign, inbox, named, title, control }) => {
    refuseForeign(foreign);
    // Refused before it is queued: no process with this configuration could answer it.
    ports.modes.current(control);
    // What came in since the store was asked is in `named`, unless it was more than that holds.
    isStale = event.named === true && seq - asked > NAMED_KEPT;
    isKnown ||= event.named === true && named.includes(event.inputId);
    if (isKnown || isStale) return null;
    refuseFull(inbox.length);
    const made = title === "" ? titleOf(event.content) : "";
    return made === "" ? [event] : [event, { type: "thread_renamed", title: made }];
  }, blobs);
  if (known !== undefined) return known;
  return isKnown || isStale ? accept(thread, { event, blobs }) : undefined;
}

export async function post(thread: Thread, input: Accepted): Promise<{ inputId: string }> {
  await accept(thread, input);
  return { inputId: input.event.inputId };
}

/** Accepts an input, and promises what becomes of it: a promise within one, since others may give orders meanwhile. */
export async function send(thread: Thread, input: Accepted): Promise<{ turn: Promise<TurnResult> }> {
  const { inputId } = input.event;
  const waiter = thread.waiters.add(inputId);
  try {
    const known = await accept(thread, input);
    if (known !== undefined) thread.waiters.accepted(inputId);
    const settled = known === undefined ? undefined : await outcomeOf(thread, inputId, known);
    if (settled) waiter.cancel();
    return { turn: settled ? Promise.resolve(settled) : waiter.result };
  } catch (error) {
    waiter.cancel();
    throw error;
  }
}

export async function editQueued(
  thread: Thread,
  { inputId, content }: { inputId: string; content: string },
): Promise<void> {
  checkContent(content);
  await changeQueued(thread, { type: "input_edited", inputId, content: content.toWellFormed() });
}

export const removeQueued = (thread: Thread, { inputId }: { inputId: string }): Promise<void> =>
  changeQueued(thread, { type: "input_removed", inputId });

/** Edits or removes an input that has not been taken yet. */
function changeQueued(thread: Thread, event: NewEvent<"input_edited" | "input_removed">): Promise<void> {
  return thread.command(({ inbox }) => {
    if (inbox.some((item) => item.inputId === event.inputId)) return [event];
    throw new CinchError(
      "NOT_PENDING",
      `Input "${event.inputId}" is not queued: it was taken or removed. listInbox() shows what is.`,
    );
  });
}

const TITLE_CHARS = 60;

/** What a thread is called that nobody gave a title: its first words. */
function titleOf(content: string): string {
  const line = content.trim().split("\n", 1)[0]!.replaceAll(/\s+/g, " ").trim();
  const letters = [...line];
  return letters.length <= TITLE_CHARS
    ? line
    : `${letters
        .slice(0, TITLE_CHARS - 1)
        .join("")
        .trimEnd()}…`;
}

/** Everything is bounded: a program that posts in a loop is told so before the journal is full of it. */
const MOST_QUEUED = 1_000;

function refuseFull(queued: number): void {
  if (queued < MOST_QUEUED) return;
  throw new CinchError(
    "INVALID_INPUT",
    `${queued} inputs are queued already. Wait for turns to end, or remove some with removeInput().`,
  );
}

/** A thread that a newer release has written to may be read, not driven. */
export function refuseForeign(foreign: { type: string; v: number; seq: number } | null): void {
  if (!foreign) return;
  const { type, v, seq } = foreign;
  throw new CinchError(
    "STORE_NEWER",
    `Event ${seq} of this thread ("${type}", version ${v}) was written by a newer Cinch. Upgrade to go on with it.`,
  );
}

/** Asks the driver to end the turn, also one that an input is just about to begin. With `inbox`, what is queued is dropped. */
export async function requestAbort(thread: Thread, { inbox = false }: { inbox?: boolean }): Promise<Thread> {
  refuseForeign(thread.state.foreign);
  await thread.begun();
  await thread.command(({ turn, inbox: queued }) => {
    const drop = inbox ? { inbox } : {};
    if (turn) return turn.aborting && !inbox ? null : [{ type: "abort_requested", turnId: turn.turnId, ...drop }];
    return inbox && queued.length > 0 ? [{ type: "abort_requested", inbox }] : null;
  });
  return thread;
}

/** Goes on with what is parked or held back. */
export async function goOn(thread: Thread): Promise<void> {
  await thread.refresh();
  const { foreign, turn, parked, held, inbox } = thread.state;
  refuseForeign(foreign);
  const hindrance = turn && thread.ports.modes.hindrance(thread.state);
  if (hindrance) throw hindrance;
  if (turn ? parked : held && inbox.length > 0) thread.wake({ force: true });
}
