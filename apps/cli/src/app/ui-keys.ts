import type { InboxItem } from "@cinch/core";
import { imagePath } from "../composer/attachments.ts";
import { completionTarget, type CompletionSource } from "../composer/completion.ts";
import { cleared, composed, edit, type EditorState } from "../composer/editor.ts";
import { editorAction, type ComposerInput } from "../composer/editor-keys.ts";
import { walkHistory } from "../composer/history-walk.ts";
import { completed, completionList, isComplete, type CompletionList } from "./completion-list.ts";
import { newSearch, searchFor, searchOlder } from "./history-search.ts";
import { keyLabel, keyName, type AppAction, type Keymap } from "./keymap.ts";
import { commandIn, unknownCommand } from "./typed-command.ts";
import { withEditor, withNotice, type Outgoing, type UiState } from "./ui-state.ts";

/** What the keys depend on besides the state of the UI. */
export interface UiFacts {
  /** Of the composer's text, in columns. */
  width: number;
  keymap: Keymap;
  /** The history, oldest first. */
  entries: readonly string[];
  completions: CompletionSource;
  /** What the user queued, oldest first. */
  queued: readonly InboxItem[];
  /** `stopping`: the user has stopped it. `held`: queued inputs wait for `resume()`, as a parked turn does. */
  turn: "idle" | "working" | "stopping" | "parked" | "held";
}

/** What a key asks of the app. */
export type UiIntent =
  | { type: "send"; message: Outgoing; delivery: "now" | "queue" }
  | { type: "command"; name: string; argument: string }
  | { type: "shell"; command: string }
  | { type: "edit-input"; inputId: string; content: string }
  | { type: "remove-input"; inputId: string }
  | { type: "remember"; text: string }
  | { type: "attach"; path: string; pasted: string }
  /** The dialog is closed. */
  | { type: "chosen"; choice: unknown }
  | {
      type:
        | "stop"
        | "resume"
        | "rewind"
        | "leave"
        | "suspend"
        | "next-mode"
        | "editor"
        | "paste-image"
        | "output"
        | "pager"
        | "redraw"
        | "load-files";
    };

export interface UiStep {
  state: UiState;
  intents: readonly UiIntent[];
}

const only = (state: UiState, ...intents: UiIntent[]): UiStep => ({ state, intents });

/** What a key does. Pure: the app carries the intents out. */
export function press(before: UiState, event: ComposerInput, facts: UiFacts): UiStep {
  const state = { ...before, notice: null, armed: null };
  const action = event.type === "key" ? facts.keymap.get(event.key) : undefined;
  if (state.dialog) return inDialog(state, event, action);
  if (state.search) return inSearch(state, event, facts);
  const list = openList(state, facts.completions);
  const inOpenList = list && inList(state, event, { list, action, facts });
  if (inOpenList) return inOpenList;
  if (action) return act(state, action, { facts, armed: before.armed });
  if (isEndOfInput(state, event)) return leave(state, keyName("ctrl-d"), before.armed);
  return write(state, event, facts);
}

/** The completion list that is shown. An entry of the history that begins with a slash is no word to be completed. */
export function openList({ editor, walk, completion }: UiState, source: CompletionSource): CompletionList | null {
  return walk && editor.last.kind !== "typed" ? null : completionList(editor, completion, source);
}

function inDialog(state: UiState, event: ComposerInput, action: AppAction | undefined): UiStep {
  const { id, panel, state: shown } = state.dialog!;
  const close = (choice: unknown): UiStep => only({ ...state, dialog: null }, { type: "chosen", choice });
  if (action === "interrupt") return close(undefined);
  const step = panel.reduce(shown, event);
  if (step.kind === "choice") return close(step.choice);
  if (step.kind === "state") return only({ ...state, dialog: { id, panel, state: step.state } });
  if (action === "stop") return close(undefined);
  return action === "redraw" || action === "suspend" ? only(state, { type: action }) : only(state);
}

function inSearch(state: UiState, event: ComposerInput, facts: UiFacts): UiStep {
  const { query, match } = state.search!;
  const { entries } = facts;
  const action = event.type === "key" ? facts.keymap.get(event.key) : undefined;
  if (event.type !== "key") return only({ ...state, search: searchFor(query + firstLine(event.text), entries) });
  if (event.key === "backspace") return only({ ...state, search: searchFor(query.slice(0, -1), entries) });
  if (action === "search-history") return only({ ...state, search: searchOlder(state.search!, entries) });
  const closed = { ...state, search: null };
  if (action === "stop" || action === "interrupt") return only(closed);
  const found = match ? withEditor(closed, edit(state.editor, { type: "set", text: match.text }, facts.width)) : closed;
  // A found text is not sent at once: the user may want to change it.
  return action === "send" ? only(found) : press(found, event, facts);
}

const firstLine = (text: string): string => text.split("\n", 1)[0]!;

interface ListKey {
  list: CompletionList;
  action: AppAction | undefined;
  facts: UiFacts;
}

/** `null`: the key means the same as without the list. */
function inList(state: UiState, event: ComposerInput, { list, action, facts }: ListKey): UiStep | null {
  const select = (selected: number) => only({ ...state, completion: { ...state.completion, selected } });
  const count = list.choices.length;
  if (event.type !== "key") return null;
  if (event.key === "up" || event.key === "ctrl-p") return select((list.selected + count - 1) % count);
  if (event.key === "down" || event.key === "ctrl-n") return select((list.selected + 1) % count);
  if (action === "stop") return only({ ...state, completion: { selected: 0, closed: list.target.start } });
  if (action !== "complete" && action !== "send") return null;
  if (action === "send" && isComplete(state.editor, list)) return null;
  const next = withEditor(state, completed(state.editor, list));
  return action === "send" && list.target.kind === "command" ? send(next, "now", facts) : only(next);
}

function act(state: UiState, action: AppAction, { facts, armed }: { facts: UiFacts; armed: UiState["armed"] }): UiStep {
  switch (action) {
    case "send":
      return send(state, "now", facts);
    case "queue":
      return send(state, "queue", facts);
    case "edit-queued":
      return editQueued(state, facts);
    case "stop":
      return stop(state, facts, armed);
    case "interrupt":
      return interrupt(state, facts, armed);
    case "complete":
      return only({ ...state, completion: { selected: 0, closed: null } });
    case "search-history":
      return only({ ...state, search: newSearch });
    case "suspend":
    case "next-mode":
    case "editor":
    case "paste-image":
    case "output":
    case "pager":
    case "redraw":
      return only(state, { type: action });
  }
}

function send(state: UiState, delivery: "now" | "queue", facts: UiFacts): UiStep {
  const { editor, outputs } = state;
  const continued = edit(editor, { type: "continue-line" }, facts.width);
  if (continued !== editor) return only({ ...state, editor: continued });
  if (state.edited) return keepEdited(state);
  const { content, files } = composed(editor);
  const isEmpty = content.trim() === "" && files.length === 0;
  if (isEmpty && (facts.turn === "held" || facts.turn === "parked")) return only(state, { type: "resume" });
  if (isEmpty) return only(state);
  const sent = withEditor(state, cleared(editor));
  const remember = { type: "remember", text: content } as const;
  const command = commandIn(content);
  if (command) {
    const known = facts.completions.commands.some(({ name }) => name === command.name);
    if (!known) return only(withNotice(state, unknownCommand(command.name, facts.completions.commands)));
    return only(sent, remember, { type: "command", ...command });
  }
  const shell = /^!\s*(\S[^]*)$/.exec(content)?.[1];
  if (shell) return only(sent, remember, { type: "shell", command: shell.trimEnd() });
  const message = { content, files, editor, outputs };
  return only({ ...sent, outputs: [] }, remember, { type: "send", message, delivery });
}

/** Alt-Up: the newest queued input, and with each further press an older one. */
function editQueued(state: UiState, { queued }: UiFacts): UiStep {
  const at = queued.findIndex(({ inputId }) => inputId === state.edited?.inputId);
  const item = queued[(at === -1 ? queued.length : at) - 1];
  if (!item) return only(withNotice(state, at === -1 ? "No input is queued." : "There is no older queued input."));
  const { content: text, inputId } = item;
  const editor = { ...cleared(state.editor), text, cursor: text.length };
  return only({ ...withEditor(state, editor), edited: { inputId, before: state.edited?.before ?? state.editor } });
}

function keepEdited(state: UiState): UiStep {
  const { inputId, before } = state.edited!;
  const { content, files } = composed(state.editor);
  if (files.length > 0) return only(withNotice(state, "An image can't be added to a queued input: remove it first."));
  const done = { ...withEditor(state, before), edited: null };
  if (content.trim() === "") return only(done, { type: "remove-input", inputId });
  return only(done, { type: "edit-input", inputId, content });
}

function stop(state: UiState, { turn, keymap }: UiFacts, armed: UiState["armed"]): UiStep {
  if (state.edited) return only({ ...withEditor(state, state.edited.before), edited: null });
  if (turn === "working" || turn === "parked") return only(state, { type: "stop" });
  if (turn === "stopping") return only(state);
  if (armed === "rewind") return only(state, { type: "rewind" });
  return only({ ...withNotice(state, `${keyLabel(keymap, "stop")} again to rewind.`), armed: "rewind" });
}

function interrupt(state: UiState, { turn, keymap }: UiFacts, armed: UiState["armed"]): UiStep {
  if (turn === "working" || turn === "parked") return only(state, { type: "stop" });
  if (state.edited) return only({ ...withEditor(state, state.edited.before), edited: null });
  const { editor, outputs } = state;
  if (editor.text !== "" || outputs.length > 0) {
    const put = { ...withEditor(state, cleared(editor)), outputs: [] };
    const brought = editor.text === "" ? "The output of your commands is not sent." : "Up brings the text back.";
    return only(withNotice(put, brought), { type: "remember", text: composed(editor).content });
  }
  return leave(state, keyLabel(keymap, "interrupt"), armed);
}

/** As in a shell. In a text, Ctrl-D deletes. */
const isEndOfInput = ({ editor, edited }: UiState, event: ComposerInput): boolean =>
  event.type === "key" && event.key === "ctrl-d" && editor.text === "" && edited === null;

function leave(state: UiState, key: string, armed: UiState["armed"]): UiStep {
  if (armed === "leave") return only(state, { type: "leave" });
  return only({ ...withNotice(state, `${key} again to leave.`), armed: "leave" });
}

/** A key of the composer. Up in the first row and Down in the last one walk in the history. */
function write(state: UiState, event: ComposerInput, { width, entries }: UiFacts): UiStep {
  const path = event.type === "paste" ? imagePath(event.text) : undefined;
  if (event.type === "paste" && path !== undefined) return only(state, { type: "attach", path, pasted: event.text });
  const action = editorAction(event);
  if (!action) return only(state);
  const editor = edit(state.editor, action, width);
  if (editor !== state.editor) return written(state, editor);
  if (action.type !== "up" && action.type !== "down") return only(state);
  const step = walkHistory(state.walk, { entries, text: editor.text, by: action.type === "up" ? -1 : 1 });
  if (!step) return only(state);
  return only({ ...withEditor(state, edit(editor, { type: "set", text: step.text }, width)), walk: step.walk });
}

function written(state: UiState, editor: EditorState): UiStep {
  const target = completionTarget(editor.text, editor.cursor);
  const { closed } = state.completion;
  const completion = { selected: 0, closed: target?.start === closed ? closed : null };
  const intents = target?.kind === "file" ? [{ type: "load-files" } as const] : [];
  return only({ ...state, editor, completion }, ...intents);
}
