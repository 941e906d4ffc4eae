import { changedBetween, type Picture } from "./snapshot.ts";

/** A command that runs in this workspace. */
export interface Run {
  threadId: string;
  /** What was changed while a command of another thread ran too. */
  shared: Set<string>;
}

/**
 * Which changes more than one thread may have made. Each time a command begins or ends there is a picture of all files. What differs
 * between two of them was done by the commands that ran in between: if they are of one thread, it is that thread's, otherwise it is
 * shared by them.
 */
export class Overlaps {
  readonly #running = new Set<Run>();
  readonly #ended = new Set<Run>();
  #last: Picture | undefined;

  /** A command is about to run. Without a picture it counts as running since the last one. */
  begin(threadId: string, picture?: Picture): Run {
    if (picture) this.#mark(picture);
    const run: Run = { threadId, shared: new Set() };
    this.#running.add(run);
    return run;
  }

  /** It is over. Without a picture it counts as running until the next one. */
  end(run: Run, picture?: Picture): void {
    if (!this.#running.has(run)) return;
    this.#ended.add(run);
    if (picture) this.#mark(picture);
    if ([...this.#running].every((one) => this.#ended.has(one))) this.#forget();
  }

  #mark(picture: Picture): void {
    const runs = [...this.#running];
    if (this.#last && new Set(runs.map(({ threadId }) => threadId)).size > 1)
      for (const path of changedBetween(this.#last, picture)) for (const { shared } of runs) shared.add(path);
    this.#last = picture;
    for (const run of this.#ended) this.#running.delete(run);
    this.#ended.clear();
  }

  /** When nothing runs there is nothing to tell apart. */
  #forget(): void {
    this.#running.clear();
    this.#ended.clear();
    this.#last = undefined;
  }
}
