import type { NewEvent } from "../events/event-map.ts";
import type { Part, TextPart } from "../events/message.ts";
import { CONTEXT_PATH, OFFLOADED_FROM_CHARS } from "../events/offloaded.ts";
import { hashOf } from "../ports/hash.ts";
import type { Blob } from "../ports/store.ts";
import type { Appended, Decide, Proposal } from "./decide.ts";
import type { Driver, LeaseUse } from "./driver.ts";

/** What the model gets: enough of the beginning to see what the text is, and the end, where programs report how it went. */
const EXCERPT = { head: 8_000, tail: 4_000 };
/** If it can't read the rest, it gets as much as a result may have. */
const ONLY_EXCERPT = { head: OFFLOADED_FROM_CHARS * 0.7, tail: OFFLOADED_FROM_CHARS * 0.3 };
/** A longer text loses its middle. The same limit as that of an answer. */
const KEPT_CHARS = 32_000_000;

/** The tool by which the model can read the rest. `null`: it has none. */
type Reader = "read_file" | "recall" | null;

interface KeptText {
  blob: Blob;
  reader: Reader;
}

/** The result of a decision that can't be appended yet: the hash of this text is not known. */
class LongText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Offloads the long texts of one append. Every `tool_end` and every message of the user passes through here, whatever decided it. What a
 * provider's own tools returned is part of the answer, and goes back to the provider unchanged.
 */
export class Offloading {
  readonly #driver: Driver;
  /** By text. A store that fails is asked again, and then a text is not hashed again. */
  readonly #kept = new Map<string, KeptText>();

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  async append<Result>(decide: Decide<Result>, lease: LeaseUse): Promise<Appended<Result>> {
    for (;;) {
      const decided: Decide<Result | LongText> = (state) => offload(decide(state), this.#kept);
      const appended = await this.#driver.journal.append(decided, lease);
      if (!("result" in appended) || !(appended.result instanceof LongText)) return appended as Appended<Result>;
      const { text } = appended.result;
      this.#kept.set(text, { blob: await blobOf(text), reader: readerFor(this.#driver) });
    }
  }
}

/** The proposal with excerpts in the place of long texts, and the blobs that have the whole. */
function offload<Result>(
  proposal: Proposal<Result> | null,
  kept: ReadonlyMap<string, KeptText>,
): Proposal<Result | LongText> | null {
  const long = proposal?.events.filter((event) => textIn(event).length > OFFLOADED_FROM_CHARS) ?? [];
  if (!proposal || long.length === 0) return proposal;
  const offloads = new Map<NewEvent, Offload>();
  for (const event of long) {
    const text = textIn(event);
    const known = kept.get(text);
    if (!known) return { events: [], result: new LongText(text) };
    // What the user says is not cut where the model could not read the rest.
    if (event.type === "tool_end" || known.reader !== null) offloads.set(event, offloadOf(event, text, known));
  }
  const records = [...offloads.values()].map(({ record }) => record);
  const blobs = [...(proposal.blobs ?? []), ...[...offloads.values()].map(({ blob }) => blob)];
  // The key of a call has the `seq` of its `tool_start`, so nothing may be inserted before one.
  if (proposal.events.some(({ type }) => type === "tool_start"))
    return {
      ...proposal,
      events: [...proposal.events.map((one) => offloads.get(one)?.shown ?? one), ...records],
      blobs,
    };
  const events = proposal.events.flatMap((event) => {
    const found = offloads.get(event);
    // In this order, a cut that keeps the excerpt keeps the text.
    return found ? [found.record, found.shown] : [event];
  });
  return { ...proposal, events, blobs };
}

interface Offload {
  record: NewEvent<"context_offloaded">;
  shown: NewEvent;
  blob: Blob;
}

function offloadOf(event: NewEvent, text: string, { blob, reader }: KeptText): Offload {
  const path = `${CONTEXT_PATH}/${event.type === "tool_end" ? "result" : "message"}-${blob.hash.slice(0, 32)}.txt`;
  const about = { path, blob: blob.hash, chars: text.length, bytes: blob.bytes.length };
  const turn = event.turnId === undefined ? {} : { turnId: event.turnId };
  const record = { type: "context_offloaded" as const, ...turn, ...originOf(event), ...about };
  return { record, shown: withText(event, excerpt(text, { path, reader })), blob };
}

function originOf(event: NewEvent): { toolCallId: string; toolName: string } | { messageId: string } | undefined {
  if (event.type === "tool_end") return { toolCallId: event.toolCallId, toolName: event.toolName };
  return event.type === "message_end" ? { messageId: event.message.id } : undefined;
}

/** The text that is offloaded if it is too long. The texts of all parts count together. */
function textIn(event: NewEvent): string {
  if (event.type === "tool_end") return joined(event.result.content);
  return event.type === "message_end" && event.message.role === "user" ? joined(event.message.content) : "";
}

const joined = (content: string | readonly Part[]): string =>
  typeof content === "string"
    ? content
    : content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

function withText(event: NewEvent, text: string): NewEvent {
  const part: TextPart = { type: "text", text };
  const inParts = <P extends Part>(parts: readonly P[]) => [part, ...parts.filter(({ type }) => type !== "text")];
  if (event.type === "message_end")
    return { ...event, message: { ...event.message, content: inParts(event.message.content) } };
  if (event.type !== "tool_end") return event;
  const { content } = event.result;
  return { ...event, result: { ...event.result, content: typeof content === "string" ? text : inParts(content) } };
}

function excerpt(text: string, { path, reader }: { path: string; reader: Reader }): string {
  const chars = reader === null ? ONLY_EXCERPT : EXCERPT;
  const head = text.slice(0, chars.head);
  const tail = text.slice(-chars.tail);
  const left = text.length - head.length - tail.length;
  const lost = text.length - KEPT_CHARS;
  const notes = [
    `${left} of ${text.length} characters left out here.`,
    howToRead({ path, reader, lines: head.split("\n").length - 1 }),
    ...(lost > 0 ? [`Only ${KEPT_CHARS} characters were kept: ${lost} in the middle are lost.`] : []),
  ];
  // A cut may split a surrogate pair, and providers refuse lone surrogates.
  return `${head}\n\n[${notes.join(" ")}]\n\n${tail}`.toWellFormed();
}

function howToRead({ path, reader, lines }: { path: string; reader: Reader; lines: number }): string {
  switch (reader) {
    case "read_file":
      return `The text is in ${path}: read it with read_file, with offset and limit (offset ${lines} goes on here). Commands can't see that file.`;
    case "recall":
      return "The text is kept: find the rest with recall.";
    case null:
      return "The text is kept in the journal of this thread, where no tool here can read it: ask for a smaller part to see more.";
  }
}

async function blobOf(text: string): Promise<Blob> {
  const bytes = new TextEncoder().encode(keptOf(text));
  return { hash: await hashOf(bytes), bytes };
}

function keptOf(text: string): string {
  const lost = text.length - KEPT_CHARS;
  if (lost <= 0) return text;
  const half = KEPT_CHARS / 2;
  return `${text.slice(0, half)}\n[${lost} characters were not kept here]\n${text.slice(-half)}`;
}

/** By the tools of the mode that gets the text. To end a turn takes no mode: without one, a workspace is taken to be readable. */
function readerFor({ state, ports: { modes, workspace } }: Driver): Reader {
  const modeId = modes.modeOfCalls(state) ?? state.control.modeId ?? modes.default.id;
  const setup = modes.has(modeId) ? modes.setupOfCalls(state) : undefined;
  const has = (name: string): boolean => !setup || (setup.tools.has(name) && setup.gate.isAvailable(name));
  if (workspace && Object.hasOwn(workspace.tools, "read_file") && has("read_file")) return "read_file";
  return setup && has("recall") ? "recall" : null;
}
