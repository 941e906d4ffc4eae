import {
  completedText,
  completionChoices,
  completionTarget,
  type CompletionChoice,
  type CompletionSource,
  type CompletionTarget,
} from "../composer/completion.ts";
import { edit, type EditorState } from "../composer/editor.ts";

/** The list below which the word at the cursor is completed. It is computed from the text: only the choice and a closed list are state. */
export interface CompletionCursor {
  selected: number;
  /** The word whose list the user closed, by its offset. */
  closed: number | null;
}

export interface CompletionList {
  target: CompletionTarget;
  choices: readonly CompletionChoice[];
  selected: number;
}

export const newCompletion: CompletionCursor = { selected: 0, closed: null };

/** A frame and the next key ask for the choices of the same word. */
let latest: { word: string; source: CompletionSource; choices: CompletionChoice[] } | undefined;

/** `null`: there is nothing to complete, or the user closed the list. */
export function completionList(
  { text, cursor }: EditorState,
  { selected, closed }: CompletionCursor,
  source: CompletionSource,
): CompletionList | null {
  const target = completionTarget(text, cursor);
  if (!target || target.start === closed) return null;
  const choices = choicesFor(target, source);
  if (choices.length === 0) return null;
  return { target, choices, selected: Math.min(selected, choices.length - 1) };
}

function choicesFor(target: CompletionTarget, source: CompletionSource): CompletionChoice[] {
  const word = `${target.kind}:${target.query}`;
  if (latest?.word !== word || latest.source !== source)
    latest = { word, source, choices: completionChoices(target, source) };
  return latest.choices;
}

/** The text with the choice under the cursor. */
export function completed(editor: EditorState, { target, choices, selected }: CompletionList): EditorState {
  const { text, cursor } = completedText(editor.text, target, choices[selected]!);
  return { ...edit(editor, { type: "set", text }, Infinity), cursor };
}

/** The word is whole already: the choice would only add a space. */
export const isComplete = (editor: EditorState, list: CompletionList): boolean =>
  completed(editor, list).text.trimEnd() === editor.text.trimEnd();
