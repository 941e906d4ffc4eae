import type { InputFile } from "@cinch/core";
import { emptyEditor, type EditorState } from "../composer/editor.ts";
import type { HistoryWalk } from "../composer/history-walk.ts";
import type { Panel } from "../views/panel.ts";
import { newCompletion, type CompletionCursor } from "./completion-list.ts";
import type { HistorySearch } from "./history-search.ts";

/** What the screen shows and no journal knows. A value: `press` and the functions here make the next one. */
export interface UiState {
  readonly editor: EditorState;
  readonly walk: HistoryWalk | null;
  readonly search: HistorySearch | null;
  readonly completion: CompletionCursor;
  /** A list or a text field that a command opened. It has all keys. */
  readonly dialog: Dialog | null;
  /** The queued input that stands in the composer, and the text that it displaced. */
  readonly edited: EditedInput | null;
  /** What the user's own commands printed. It goes with the next message. */
  readonly outputs: readonly CommandOutput[];
  /** One line above the composer, until the next key. */
  readonly notice: string | null;
  /** What the last key announced: the same key again does it. */
  readonly armed: "leave" | "rewind" | null;
}

export interface Dialog {
  id: number;
  // oxlint-disable-next-line no-explicit-any
  panel: Panel<any, any>;
  state: unknown;
}

export interface EditedInput {
  inputId: string;
  before: EditorState;
}

export interface CommandOutput {
  command: string;
  output: string;
  /** `exit 1`, `stopped`: how it ended, if not well. */
  ending: string | null;
}

/** A message that leaves the composer. `editor` is restored if it is not accepted. */
export interface Outgoing {
  content: string;
  files: readonly InputFile[];
  editor: EditorState;
  outputs: readonly CommandOutput[];
}

export const newUiState: UiState = {
  editor: emptyEditor,
  walk: null,
  search: null,
  completion: newCompletion,
  dialog: null,
  edited: null,
  outputs: [],
  notice: null,
  armed: null,
};

export const withNotice = (state: UiState, notice: string | null): UiState => ({ ...state, notice });

/** Replaces the text. The history walk ends, because its texts belong to what was there. */
export const withEditor = (state: UiState, editor: EditorState): UiState => ({
  ...state,
  editor,
  walk: null,
  completion: newCompletion,
});

/** A message was not accepted: it returns to the composer, unless other text is there by now. */
export function restored(state: UiState, { editor, outputs }: Outgoing): UiState {
  const kept = { ...state, outputs: [...outputs, ...state.outputs] };
  return state.editor.text === "" ? withEditor(kept, editor) : kept;
}

/** The text of a message, with what the user's commands printed before it. */
export function withCommandOutputs(content: string, outputs: readonly CommandOutput[]): string {
  const blocks = outputs.map(({ command, output, ending }) => {
    const fence = fenceFor(output);
    const how = ending === null ? "" : ` (${ending})`;
    return `I ran this command${how}:\n${fence}\n$ ${command}\n${output.trimEnd()}\n${fence}\n`;
  });
  return [...blocks, content].join("\n");
}

/** Longer than every fence in the text, so that the text can't end its block. */
function fenceFor(contained: string): string {
  const longest = Math.max(2, ...(contained.match(/`+/g) ?? []).map((run) => run.length));
  return "`".repeat(longest + 1);
}
