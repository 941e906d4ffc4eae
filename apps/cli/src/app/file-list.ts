import { directoryBackend } from "@cinch/workspace";

/** More would make the choice slow and no better. */
const MAX_FILES = 20_000;
/** Files that the agent has made meanwhile appear after so long. */
const FRESH_MS = 5_000;

interface FileListOptions {
  folder: string;
  now: () => number;
  changed: () => void;
}

/** The files of the project for the completion, without folders that ignore files exclude. They are listed in the background. */
export class FileList {
  readonly #options: FileListOptions;
  readonly #end = new AbortController();
  #files: readonly string[] = [];
  #listedAt = -Infinity;
  #listing = false;

  constructor(options: FileListOptions) {
    this.#options = options;
  }

  /** What is known now. The same array until it is listed again. */
  get files(): readonly string[] {
    return this.#files;
  }

  /** Lists the files again, if the list is not fresh. */
  refresh(): void {
    const { now, changed } = this.#options;
    if (this.#listing || now() - this.#listedAt < FRESH_MS) return;
    this.#listing = true;
    this.#list()
      .then((files) => (this.#files = files))
      // A folder that can't be listed has nothing to complete.
      .catch(() => undefined)
      .finally(() => {
        this.#listing = false;
        this.#listedAt = now();
        changed();
      });
  }

  [Symbol.dispose](): void {
    this.#end.abort();
  }

  async #list(): Promise<string[]> {
    const backend = directoryBackend({ root: this.#options.folder });
    const reach = { threadId: "", resourceId: "", signal: this.#end.signal };
    const found = new Set<string>();
    for await (const { path } of backend.glob({ pattern: "**", path: "/" }, reach)) {
      for (const part of withFolders(path.slice(1))) found.add(part);
      if (found.size >= MAX_FILES) break;
    }
    return [...found];
  }
}

/** `a/b/c`: the file, and the folders on its way. */
function withFolders(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, at) => (at === parts.length - 1 ? path : `${parts.slice(0, at + 1).join("/")}/`));
}
