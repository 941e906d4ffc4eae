import { editorBindings, type PlainAction } from "../composer/editor-keys.ts";
import type { KeyHelp } from "./commands/command.ts";
import { keyName, type AppAction, type Keymap } from "./keymap.ts";

/** In the order of `/help`. By their types, no action can be forgotten. */
const APP_ACTIONS: Readonly<Record<AppAction, string>> = {
  send: "send; while the agent works: steer it",
  queue: "queue a message for a turn of its own",
  "edit-queued": "edit the newest queued message; empty removes it",
  stop: "stop the turn, close a list; twice at rest: rewind",
  interrupt: "stop; else put the text into the history; else leave",
  "next-mode": "next mode",
  complete: "complete; give a waiting question the keys",
  "search-history": "search the history",
  editor: "edit the text in $VISUAL or $EDITOR",
  "paste-image": "attach an image from the clipboard",
  output: "whole output of the last call",
  pager: "whole thread, everything unfolded",
  redraw: "draw the screen again",
  suspend: "suspend",
};

/** `null`: what every reader expects of the key. */
const EDITOR_ACTIONS: Readonly<Record<PlainAction, string | null>> = {
  newline: "new line",
  "continue-line": null,
  left: null,
  right: null,
  up: "line above; on the first: older entry of the history",
  down: "line below; on the last: newer entry of the history",
  "word-left": "a word back",
  "word-right": "a word on",
  "line-start": "start of the line",
  "line-end": "end of the line",
  backspace: null,
  delete: null,
  "kill-to-line-start": "cut to the start of the line",
  "kill-to-line-end": "cut to the end of the line",
  "kill-solid-left": "cut back to white space",
  "kill-word-left": "cut the word before",
  "kill-word": "cut the word after",
  yank: "insert what was cut",
  "yank-pop": "insert what was cut before that",
  undo: "undo",
};

/** The keys of the app and of the composer, as they are in force. A key of the app is no key of the composer. */
export function keyHelp(keymap: Keymap): KeyHelp[] {
  const ofApp = entries(APP_ACTIONS).map(([action, text]) => ({
    keys: [...keymap].filter(([, one]) => one === action).map(([key]) => key),
    action: text,
  }));
  const ofEditor = entries(EDITOR_ACTIONS).flatMap(([action, text]) => {
    const keys = Object.keys(editorBindings).filter((key) => editorBindings[key] === action && !keymap.has(key));
    return text === null ? [] : [{ keys, action: text }];
  });
  return [...ofApp, ...ofEditor]
    .filter(({ keys }) => keys.length > 0)
    .map(({ keys, action }) => ({ keys: keys.map(keyName).join(", "), action }));
}

const entries = <Key extends string, Value>(record: Readonly<Record<Key, Value>>): [Key, Value][] =>
  Object.entries(record) as [Key, Value][];
