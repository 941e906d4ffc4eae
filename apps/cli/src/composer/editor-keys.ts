import type { EditorAction } from "./editor.ts";

/** What reaches the composer from the decoder of keys. */
export type ComposerInput =
  | { type: "key"; key: string }
  | { type: "text"; text: string }
  | { type: "paste"; text: string };

export type PlainAction = Exclude<EditorAction["type"], "insert" | "paste" | "attach" | "set">;

/** As in readline. The app has its own keys, such as Enter, and asks for these afterwards. */
export const editorBindings: Readonly<Record<string, PlainAction>> = {
  "shift-enter": "newline",
  "ctrl-j": "newline",
  left: "left",
  right: "right",
  up: "up",
  down: "down",
  "ctrl-b": "left",
  "ctrl-f": "right",
  "ctrl-p": "up",
  "ctrl-n": "down",
  "alt-b": "word-left",
  "alt-f": "word-right",
  "ctrl-left": "word-left",
  "ctrl-right": "word-right",
  "alt-left": "word-left",
  "alt-right": "word-right",
  home: "line-start",
  end: "line-end",
  "ctrl-a": "line-start",
  "ctrl-e": "line-end",
  backspace: "backspace",
  "shift-backspace": "backspace",
  delete: "delete",
  "ctrl-d": "delete",
  "ctrl-u": "kill-to-line-start",
  "ctrl-k": "kill-to-line-end",
  "ctrl-w": "kill-solid-left",
  "alt-backspace": "kill-word-left",
  "alt-d": "kill-word",
  "ctrl-y": "yank",
  "alt-y": "yank-pop",
  "ctrl-_": "undo",
};

/** `undefined` if the key does not edit. */
export function editorAction(input: ComposerInput): EditorAction | undefined {
  if (input.type === "text") return { type: "insert", text: input.text };
  if (input.type === "paste") return { type: "paste", text: input.text };
  return Object.hasOwn(editorBindings, input.key) ? { type: editorBindings[input.key]! } : undefined;
}
