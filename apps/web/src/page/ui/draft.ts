import { randomIds } from "@cinch/core/remote";
import { useSyncExternalStore } from "preact/compat";
import { attach, filesAt } from "./attached-files.ts";
import { inBrowser, inTab } from "./kept-texts.ts";

/** A text with the id under which it is posted: however often that is done, the thread accepts it once. */
export interface SentText {
  id: string;
  content: string;
}

/** How far the thread was when the text was sent: its acceptance comes after that. */
interface KeptText extends SentText {
  seq?: number | undefined;
}

/** What stands in a composer. */
export interface Draft {
  name: string;
  text: string;
  set: (text: string) => void;
  /**
   * Takes the text out of the composer, and posts it. It stays kept until the server has accepted it: a reload brings it back, and so does
   * a failure. What came back and was not edited since is posted again with the id that it had.
   */
  send: (post: (message: SentText) => Promise<unknown>) => Promise<unknown>;
}

const typedKey = (name: string): string => `cinch-draft-${name}`;
const sentKey = (name: string): string => `cinch-sent-${name}`;

/** What this page is sending. What else is kept as sent was sent before a reload, or has failed. */
const underWay = new Set<string>();
const watchers = new Set<() => void>();

const changed = (): void => watchers.forEach((watcher) => watcher());
const subscribe = (watcher: () => void): (() => void) => {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
};

/** What a tab without texts of its own began with. What other tabs write later is theirs. */
const found = new Map<string, string>();

/** Each tab keeps its own. One that has none begins with what another tab has written last. */
function read(key: string): string {
  const own = inTab.get(key) ?? found.get(key);
  if (own !== undefined) return own;
  const text = inBrowser.get(key) ?? "";
  found.set(key, text);
  return text;
}

function write(key: string, text: string): void {
  const before = read(key);
  inTab.set(key, text);
  if (text !== "") inBrowser.set(key, text);
  // What another tab has written since stays.
  else if (inBrowser.get(key) === before) inBrowser.set(key, null);
}

const sentOf = (name: string): KeptText[] => JSON.parse(read(sentKey(name)) || "[]") as KeptText[];

function keepSent(name: string, sent: readonly KeptText[]): void {
  write(sentKey(name), sent.length > 0 ? JSON.stringify(sent) : "");
}

/** What was sent, and is in the composer again, because it is not known to have been accepted. */
export const returnedTo = (name: string): KeptText[] => sentOf(name).filter(({ id }) => !underWay.has(id));

const textOf = (name: string): string =>
  [...returnedTo(name).map(({ content }) => content), read(typedKey(name))].filter((text) => text !== "").join("\n");

/** The text is kept with each key, and not when the page is drawn: a reload may come before. */
export function keepDraft(name: string, text: string): void {
  // A text that was edited is another message.
  if (returnedTo(name).length > 0)
    keepSent(
      name,
      sentOf(name).filter(({ id }) => underWay.has(id)),
    );
  write(typedKey(name), text);
  changed();
}

/** Puts a text before what is typed already. */
export function addToDraft(name: string, text: string): void {
  const typed = textOf(name);
  keepDraft(name, typed === "" ? text : `${text}\n${typed}`);
}

/** The server has accepted it. */
export function forgetSent(name: string, sentId: string): void {
  const sent = sentOf(name);
  const left = sent.filter(({ id }) => id !== sentId);
  if (left.length === sent.length) return;
  keepSent(name, left);
  changed();
}

export function removeDraft(name: string): void {
  for (const key of [typedKey(name), sentKey(name)]) for (const kept of [inTab, inBrowser]) kept.set(key, null);
  attach(name, []);
}

/** What was typed for a thread that is gone is for another. */
export function moveDraft(from: string, to: string): void {
  const text = textOf(from);
  if (text !== "") addToDraft(to, text);
  attach(to, [...filesAt(from), ...filesAt(to)]);
  removeDraft(from);
}

function messagesIn(name: string): KeptText[] {
  const [returned, typed] = [returnedTo(name), read(typedKey(name))];
  return returned.length > 0 && typed === "" ? returned : [...returned, { id: randomIds("input"), content: typed }];
}

function send(name: string, post: (message: SentText) => Promise<unknown>, now?: number): Promise<unknown> {
  const messages = messagesIn(name).map(({ seq = now, ...message }) => ({ ...message, seq }));
  keepSent(name, [...sentOf(name).filter(({ id }) => underWay.has(id)), ...messages]);
  for (const { id } of messages) underWay.add(id);
  keepDraft(name, "");
  const posted = async ({ id, content }: SentText) => {
    const message = { id, content };
    try {
      await post(message);
      forgetSent(name, id);
    } finally {
      underWay.delete(id);
      changed();
    }
  };
  return Promise.all(messages.map(posted));
}

/** `seqNow`: how far the thread is. */
export function useDraft(name: string, seqNow?: () => number): Draft {
  const text = useSyncExternalStore(subscribe, () => textOf(name));
  return { name, text, set: (next) => keepDraft(name, next), send: (post) => send(name, post, seqNow?.()) };
}

/** Of the composer without a thread, where each message begins one: what stands in it is one message. */
export function useFirstDraft(): Draft {
  const name = "new";
  const draft = useDraft(name);
  const sendAll: Draft["send"] = (post) => {
    if (messagesIn(name).length > 1) draft.set(draft.text);
    return draft.send(post);
  };
  return { ...draft, send: sendAll };
}
