import { readFileSync, rmSync } from "node:fs";
import type { AttachedByLabel } from "./attached.ts";
import { emptyEditor, type EditorState } from "./editor.ts";
import { replaceInBackground, replacePrivateFile, type BackgroundWrite } from "./private-file.ts";

/** At most so much typing is lost with the process. */
const DELAY_MS = 200;

/** Calls back after a time, unless the returned function is called first. */
export type Schedule = (callback: () => void, ms: number) => () => void;

const systemSchedule: Schedule = (callback, ms) => {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
};

interface UnsentOptions {
  schedule?: Schedule;
  onProblem?: () => void;
}

/**
 * A copy of the unsent text in a file, so that it survives a crash. Images are not copied. A file that can't be written costs nothing but
 * the copy, and leaves the reason in `problem`.
 */
export class UnsentText {
  readonly #file: string;
  readonly #schedule: Schedule;
  readonly #onProblem: () => void;
  #saved = "";
  #waiting: EditorState | undefined;
  #writing: (BackgroundWrite & { contents: string }) | undefined;
  #cancel: (() => void) | undefined;
  #problem: string | null = null;

  /** `onProblem`: called whenever the text can't be saved, which may be long after `save`. */
  constructor(file: string, { schedule = systemSchedule, onProblem = () => undefined }: UnsentOptions = {}) {
    this.#file = file;
    this.#schedule = schedule;
    this.#onProblem = onProblem;
  }

  get problem(): string | null {
    return this.#problem;
  }

  /** What the last process left. */
  load(): EditorState | undefined {
    try {
      this.#saved = readFileSync(this.#file, "utf8");
      return restored(JSON.parse(this.#saved));
    } catch {
      return undefined;
    }
  }

  /** Soon, or at the next `flush`. */
  save(state: EditorState): void {
    this.#waiting = state;
    this.#cancel ??= this.#schedule(() => this.#saveInBackground(), DELAY_MS);
  }

  /** At once: before the process ends or is suspended. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const contents = this.#unwritten();
    if (contents === undefined || contents === this.#saved) return;
    try {
      if (contents === "") this.#remove();
      else replacePrivateFile(this.#file, contents);
      this.#succeed(contents);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Keys must not wait for the disk. */
  #saveInBackground(): void {
    this.#cancel = undefined;
    const contents = this.#waiting && contentsOf(this.#waiting);
    if (contents === "") return this.flush();
    // What waits is written after what is being written.
    if (contents === undefined || this.#writing) return;
    this.#waiting = undefined;
    if (contents === this.#saved) return;
    const writing = { ...replaceInBackground(this.#file, contents), contents };
    this.#writing = writing;
    const end = (report: () => void) => {
      if (this.#writing !== writing) return;
      this.#writing = undefined;
      report();
      this.#saveInBackground();
    };
    writing.done.then(
      () => end(() => this.#succeed(contents)),
      (error: unknown) => end(() => this.#fail(error)),
    );
  }

  /** Cancels what is being written, and returns what has to be written now. */
  #unwritten(): string | undefined {
    const [waiting, writing] = [this.#waiting, this.#writing];
    this.#waiting = undefined;
    this.#writing = undefined;
    writing?.cancel();
    if (writing && this.#read() === writing.contents) this.#saved = writing.contents;
    return waiting ? contentsOf(waiting) : writing?.contents;
  }

  #succeed(contents: string): void {
    this.#saved = contents;
    this.#problem = null;
  }

  #fail(error: unknown): void {
    this.#problem = `Unsent text is not saved in ${this.#file}: ${(error as Error).message}`;
    this.#onProblem();
  }

  #read(): string | undefined {
    try {
      return readFileSync(this.#file, "utf8");
    } catch {
      return undefined;
    }
  }

  /** Another process at the same thread may have saved its own text meanwhile. */
  #remove(): void {
    if (this.#read() === this.#saved) rmSync(this.#file, { force: true });
  }
}

/** Nothing for an empty text. */
const contentsOf = (state: EditorState): string => (state.text === "" ? "" : JSON.stringify(copyOf(state)));

interface UnsentCopy {
  text: string;
  cursor: number;
  pastes: Record<string, string>;
}

function copyOf({ text, cursor, attached }: EditorState): UnsentCopy {
  const pastes = Object.entries(attached).flatMap(([label, meant]) =>
    meant.kind === "text" && text.includes(label) ? [[label, meant.text] as const] : [],
  );
  return { ...withoutImages({ text, cursor }, attached), pastes: Object.fromEntries(pastes) };
}

function withoutImages(
  { text, cursor }: { text: string; cursor: number },
  attached: AttachedByLabel,
): { text: string; cursor: number } {
  const images = Object.keys(attached).filter((label) => attached[label]!.kind === "file");
  const strip = (part: string) => images.reduce((rest, label) => rest.replaceAll(label, ""), part);
  return { text: strip(text), cursor: strip(text.slice(0, cursor)).length };
}

/** `undefined` if another program wrote it. */
function restored(copy: unknown): EditorState | undefined {
  if (!isCopy(copy)) return undefined;
  const attached = Object.fromEntries(
    Object.entries(copy.pastes).map(([label, text]) => [label, { kind: "text", text }] as const),
  );
  return { ...emptyEditor, text: copy.text, cursor: Math.min(copy.cursor, copy.text.length), attached };
}

function isCopy(value: unknown): value is UnsentCopy {
  if (typeof value !== "object" || value === null) return false;
  const { text, cursor, pastes } = value as Partial<Record<keyof UnsentCopy, unknown>>;
  if (typeof text !== "string" || !Number.isInteger(cursor) || (cursor as number) < 0) return false;
  if (typeof pastes !== "object" || pastes === null) return false;
  return Object.values(pastes).every((paste) => typeof paste === "string");
}
