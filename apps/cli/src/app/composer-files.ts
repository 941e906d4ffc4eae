import { join } from "node:path";
import { emptyEditor, type EditorState } from "../composer/editor.ts";
import { PromptHistory } from "../composer/history.ts";
import { projectFolder } from "../composer/private-file.ts";
import { UnsentText } from "../composer/unsent.ts";
import { leaveUnsentFile, takeUnsentFile } from "../composer/unsent-file.ts";

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
  readonly #report: (problem: string) => void;
  readonly #reported = new Set<string>();
  readonly #unsentFolder: string;
  /** As it stands in names of files. */
  #thread: string | undefined;
  #unsent: UnsentText | undefined;

  constructor({ state, project, report }: ComposerFilesOptions) {
    this.#report = report;
    const folder = projectFolder(state, project);
    this.#unsentFolder = join(folder, "unsent");
    this.history = new PromptHistory(join(folder, "history.jsonl"));
  }

  /** Keeps the text of the thread that is left, and returns the one of the thread that is entered. */
  enter(threadId: string): EditorState {
    this.flush();
    if (this.#thread !== undefined) leaveUnsentFile(this.#unsentFolder, this.#thread);
    this.#thread = threadId.replace(/[^\w-]/g, "_");
    const file = takeUnsentFile(this.#unsentFolder, this.#thread);
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
