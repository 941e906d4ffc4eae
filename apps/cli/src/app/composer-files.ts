import { join } from "node:path";
import { emptyEditor, type EditorState } from "../composer/editor.ts";
import { PromptHistory } from "../composer/history.ts";
import { projectFolder } from "../composer/private-file.ts";
import { UnsentText } from "../composer/unsent.ts";

interface ComposerFilesOptions {
  /** The state folder of the user. */
  state: string;
  project: string;
  /** Called once for each reason why something is not kept. */
  report: (problem: string) => void;
}

/** What the composer keeps in the state folder: the history of the project, and the unsent text of each thread. */
export class ComposerFiles {
  readonly history: PromptHistory;
  readonly #folder: string;
  readonly #report: (problem: string) => void;
  readonly #reported = new Set<string>();
  #unsent: UnsentText | undefined;

  constructor({ state, project, report }: ComposerFilesOptions) {
    this.#report = report;
    this.#folder = projectFolder(state, project);
    this.history = new PromptHistory(join(this.#folder, "history.jsonl"));
  }

  /** Keeps the text of the thread that is left, and returns the one of the thread that is entered. */
  enter(threadId: string): EditorState {
    this.flush();
    const file = join(this.#folder, "unsent", `${threadId.replace(/[^\w-]/g, "_")}.json`);
    this.#unsent = new UnsentText(file, { onProblem: () => this.#check() });
    return this.#unsent.load() ?? emptyEditor;
  }

  /** Soon. */
  save(editor: EditorState): void {
    this.#unsent?.save(editor);
  }

  remember(text: string): void {
    this.history.add(text);
    this.#check();
  }

  flush(): void {
    this.#unsent?.flush();
    this.#check();
  }

  #check(): void {
    for (const problem of [this.history.problem, this.#unsent?.problem ?? null]) {
      if (problem === null || this.#reported.has(problem)) continue;
      this.#reported.add(problem);
      this.#report(problem);
    }
  }
}
