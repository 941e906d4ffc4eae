import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { AppendResult } from "@cinch/core/store";
import type { DurableType, Store, ThreadQuery } from "@cinch/core";
import type { StampedEvent } from "@cinch/core/journal";

/** A store object whose process can be killed. */
export interface MortalStore extends Pick<Store, "append"> {
  kill(): Promise<void>;
}

/** Registers the test of one promise of the port. `another` and `mortal` open further stores on the same data. */
export type StoreCheck = (
  sentence: string,
  body: (store: Store, another: () => Promise<Store>, mortal: () => Promise<MortalStore>) => Promise<void>,
) => void;

let clock = 1_700_000_000_000;

export const event = (type: DurableType, fields: object = {}): StampedEvent =>
  ({ type, v: 1, at: ++clock, ...fields }) as StampedEvent;
export const created = (fields: object = {}) =>
  event("thread_created", { title: "A thread", resourceId: "me", ...fields });
export const cloned = (threadId: string, seq: number, by: { toolCallId?: string } = {}) =>
  event("thread_cloned", { title: "A clone", parent: { threadId, seq, ...by }, rules: [], state: {} });
export const rewound = (toSeq: number) => event("thread_rewound", { toSeq, files: false, rules: [], grants: [] });
export const input = (content: string) => event("input_accepted", { inputId: "i", delivery: "send", content });
export const renamed = (title: string) => event("thread_renamed", { title });
export const says = (text: string) =>
  event("message_end", { message: { id: "m", role: "assistant", content: [{ type: "text", text }] } });
export const agentEnd = () => event("agent_end", { reason: "complete" });
export const piece = (text: string) => ({ messageId: "m", index: 0, part: "text" as const, text });
export const bytes = (text: string) => new TextEncoder().encode(text);
export const file = (blob: string) => ({ type: "file", mediaType: "image/png", blob });
export const shows = (blob: string) =>
  event("input_accepted", { inputId: "i", delivery: "send", content: "", files: [file(blob)] });

export async function make(store: Store, id: string, ...events: StampedEvent[]): Promise<string> {
  await write(store, id, [created(), ...events], { afterSeq: 0 });
  return id;
}

export async function write(
  store: Store,
  id: string,
  events: StampedEvent[],
  options: { afterSeq: number; epoch?: number },
) {
  // Takes the lease for this append only, as core does outside a turn.
  const lease = (await store.thread(id)) ? await store.lease(id) : { epoch: 0 };
  const result = await store.append(id, events, { ...options, take: lease.epoch, release: true });
  assert.equal(result.kind, "appended");
}

interface CloneSource {
  parent: string;
  seq: number;
}

export const clone = (store: Store, id: string, { parent, seq }: CloneSource) =>
  store.append(id, [cloned(parent, seq)], { afterSeq: seq });
/** A clone that a tool call made: the thread of a subagent. */
export const fork = (store: Store, id: string, { parent, seq }: CloneSource) =>
  store.append(id, [cloned(parent, seq, { toolCallId: "call" })], { afterSeq: seq });
export const rewind = (store: Store, id: string, { afterSeq, toSeq }: { afterSeq: number; toSeq: number }) =>
  write(store, id, [rewound(toSeq)], { afterSeq });

export const seqs = async (store: Store, id: string) => (await store.read(id)).map(({ seq }) => seq);
export const texts = async (store: Store, id: string) =>
  (await store.read(id)).flatMap((e) => (e.type === "input_accepted" ? [e.content] : []));
export const stored = async (store: Store, hashes: string[]) => {
  const found = await Promise.all(hashes.map(async (hash) => [hash, await store.blob(hash)] as const));
  return found.flatMap(([hash, blob]) => (blob ? [`${hash}=${new TextDecoder().decode(blob)}`] : []));
};
export const ids = async (store: Store, query?: ThreadQuery) => (await store.threads(query)).map(({ id }) => id);
export const kinds = (results: AppendResult[]) => results.map(({ kind }) => kind).toSorted();
export const code = (expected: string) => ({ name: "CinchError", code: expected });

export async function eventually(
  condition: () => boolean | Promise<boolean>,
  what: string,
  { ms = 60_000 } = {},
): Promise<void> {
  for (const end = Date.now() + ms; Date.now() < end; await pause(5)) if (await condition()) return;
  // Another test may have blocked this process for all that time.
  if (await condition()) return;
  assert.fail(`${what} never happened`);
}
