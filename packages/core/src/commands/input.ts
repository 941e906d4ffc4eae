import { CinchError } from "../errors.ts";
import type { Delivery, NewEvent } from "../events/event-map.ts";
import { NAMED_KEPT, type ThreadState } from "../folds/state.ts";
import { resultOfAccepted } from "../queries/input-result.ts";
import type { FilePart } from "../events/message.ts";
import { fromBase64 } from "../events/base64.ts";
import { hashOf } from "../ports/hash.ts";
import type { Ids } from "../ports/ids.ts";
import type { Blob } from "../ports/store.ts";
import type { SignedThread } from "../thread/signed-thread.ts";
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
  /** An input with an id that the thread has accepted before does nothing, and gives the same result. */
  id?: string;
}

/** An input that begins a turn of its own. */
export interface FollowUp extends Input {
  /** When it is queued, in ms. Until then other inputs pass it. Default, and for a time that has passed: now. */
  at?: number;
}

export async function prepareInput(
  input: FollowUp & { delivery: Delivery },
  ports: InputPorts,
): Promise<PreparedInput> {
  const { content, files = [], id, delivery, at } = input;
  checkContent(content, files.length);
  const now = ports.now();
  if (at !== undefined) checkTime(at, now);
  const blobs: Blob[] = [];
  const parts = await Promise.all(files.map((file) => storedFile(file, blobs)));
  const named = id === undefined ? {} : { named: true };
  const scheduled = at === undefined || at <= now ? {} : { dueAt: at };
  const event = {
    type: "input_accepted" as const,
    inputId: id ?? ports.ids("input"),
    delivery,
    content: content.toWellFormed(),
    ...named,
    ...scheduled,
  };
  return { event: parts.length > 0 ? { ...event, files: parts } : event, blobs };
}

interface InputPorts {
  ids: Ids;
  now(): number;
}

const MAX_AHEAD_MS = 10 * 366 * 24 * 60 * 60 * 1_000;

function checkTime(at: number, now: number): void {
  if (at - now <= MAX_AHEAD_MS) return;
  throw new CinchError("INVALID_INPUT", "at is more than ten years ahead. Give a time in ms, as Date.now() does.");
}

function checkContent(content: string, files = 0): void {
  if (content.trim() === "" && files === 0)
    throw new CinchError("INVALID_INPUT", "content is empty: give a text, or attach a file.");
}

async function storedFile({ mediaType, data, filename }: InputFile, blobs: Blob[]): Promise<FilePart> {
  const part = { type: "file" as const, mediaType, ...(filename === undefined ? {} : { filename }) };
  if (data instanceof URL) return { ...part, url: data.href };
  const bytes = typeof data === "string" ? decode(data) : new Uint8Array(data);
  const hash = await hashOf(bytes);
  blobs.push({ hash, bytes });
  return { ...part, blob: hash };
}

function decode(text: string): Uint8Array<ArrayBuffer> {
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

/** The command for an input, with the bytes of its files. */
interface PreparedInput {
  event: NewEvent<"input_accepted">;
  blobs: readonly Blob[];
}

/**
 * `undefined`: the input is accepted now. Otherwise nothing is done, because the thread has accepted an input with its id at this `seq`. One
 * that a rewind has reverted does not count: clients send a message again under its id.
 */
async function acceptInput(signed: SignedThread, { event, blobs }: PreparedInput): Promise<number | undefined> {
  const { id, ports } = signed.thread;
  for (;;) {
    const atLookup = signed.thread.state;
    const known = event.named ? await ports.store.findInput(id, event.inputId) : undefined;
    const isAccepted = await signed.command((state) => {
      // Throws for an unknown mode: no process with this configuration could take the input.
      ports.modes.current(state.control);
      if (known !== undefined || (event.named && mayHaveAccepted(event.inputId, { state, atLookup }))) return null;
      refuseFull(state.inbox.length);
      const newTitle = state.title === "" ? titleOf(event.content) : "";
      const rename: NewEvent[] = newTitle === "" ? [] : [{ type: "thread_renamed", title: newTitle }];
      return { events: [event, ...rename], blobs, result: true };
    });
    if (isAccepted || known !== undefined) return known;
  }
}

/** Whether an input with this id may have been accepted since the store was asked for it. If so, the store is asked again. */
function mayHaveAccepted(inputId: string, { state, atLookup }: { state: ThreadState; atLookup: ThreadState }): boolean {
  const { seq, cutSeq, named } = state;
  // `named` has the ids since the lookup, unless there are more than it keeps, or a rewind may have reverted some.
  if (seq - atLookup.seq > NAMED_KEPT || cutSeq > atLookup.seq) return true;
  // The store had what was known at the lookup: to ask it again would never end.
  return named.includes(inputId) && !atLookup.named.includes(inputId);
}

export async function post(signed: SignedThread, input: PreparedInput): Promise<{ inputId: string }> {
  await acceptInput(signed, input);
  return { inputId: input.event.inputId };
}

/** Accepts an input. The inner promise settles when its turn ends, so that the session accepts other commands meanwhile. */
export async function send(signed: SignedThread, input: PreparedInput): Promise<{ turn: Promise<TurnResult> }> {
  const { thread } = signed;
  const { inputId } = input.event;
  const waiter = thread.results.add(inputId);
  try {
    const known = await acceptInput(signed, input);
    if (known === undefined) return { turn: waiter.result };
    waiter.cancel();
    return await resultOfAccepted(thread, { inputId, seq: known });
  } catch (error) {
    waiter.cancel();
    throw error;
  }
}

export async function editQueued(
  signed: SignedThread,
  { inputId, content }: { inputId: string; content: string },
): Promise<void> {
  checkContent(content);
  await changeQueued(signed, { type: "input_edited", inputId, content: content.toWellFormed() });
}

export const removeQueued = (signed: SignedThread, { inputId }: { inputId: string }): Promise<void> =>
  changeQueued(signed, { type: "input_removed", inputId });

/** Edits or removes an input that has not been taken yet. */
function changeQueued(signed: SignedThread, event: NewEvent<"input_edited" | "input_removed">): Promise<void> {
  return signed.command<void>(({ inbox }) => {
    if (inbox.some((item) => item.inputId === event.inputId)) return { events: [event] };
    throw new CinchError(
      "NOT_PENDING",
      `Input "${event.inputId}" is not queued: it was taken or removed. listInbox() lists the queued inputs.`,
    );
  });
}

const TITLE_CHARS = 60;

/** The title of a thread that has none: its first words. */
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

/** Stops a program that posts in a loop before it fills the journal. */
const MAX_QUEUED = 1_000;

function refuseFull(queued: number): void {
  if (queued < MAX_QUEUED) return;
  throw new CinchError(
    "INVALID_INPUT",
    `${queued} inputs are queued already. Wait for turns to end, or remove some with removeInput().`,
  );
}
