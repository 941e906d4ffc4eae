import { join } from "node:path";
import { emptyEditor, type EditorState } from "../composer/editor.ts";
import { PromptHistory } from "../composer/history.ts";
import { projectFolder } from "../composer/private-file.ts";
import { UnsentText } from "../composer/unsent.ts";

/** What the composer keeps in the state folder: the history of the project, and the unsent text of each thread. */
export class ComposerFiles {
  readonly history: PromptHistory;
  readonly #folder: string;
  #unsent: UnsentText | undefined;

  constructor({ state, project }: { state: string; project: string }) {
    this.#folder = projectFolder(state, project);
    this.history = new PromptHistory(join(this.#folder, "history.jsonl"));
  }

  /** Keeps the text of the thread that is left, and returns the one of the thread that is entered. */
  enter(threadId: string): EditorState {
    this.flush();
    this.#unsent = new UnsentText(join(this.#folder, "unsent", `${threadId.replace(/[^\w-]/g, "_")}.json`));
    return this.#unsent.load() ?? emptyEditor;
  }

  /** Soon. */
  save(editor: EditorState): void {
    this.#unsent?.save(editor);
  }

  flush(): void {
    this.#unsent?.flush();
  }

  /** Why something is not kept. */
  get problem(): string | null {
    return this.history.problem ?? this.#unsent?.problem ?? null;
  }
}
