import { changedBetween, type Snapshot } from "./snapshot.ts";

/** A command that runs in this workspace. */
export interface TrackedCommand {
  threadId: string;
  /** Files that changed while a command of another thread ran, too. */
  shared: Set<string>;
}

/**
 * Finds changes that more than one thread may have made. There is a snapshot whenever a command begins or ends. What differs between two
 * of them was changed by the commands that ran in between; if those are of several threads, they share it.
 */
export class Overlaps {
  readonly #running = new Set<TrackedCommand>();
  readonly #ended = new Set<TrackedCommand>();
  #last: Snapshot | undefined;

  /** A command without a snapshot counts as running since the last one. */
  begin(threadId: string, snapshot?: Snapshot): TrackedCommand {
    if (snapshot) this.#compare(snapshot);
    const command: TrackedCommand = { threadId, shared: new Set() };
    this.#running.add(command);
    return command;
  }

  /** A command without a snapshot counts as running until the next one. */
  end(command: TrackedCommand, snapshot?: Snapshot): void {
    if (!this.#running.has(command)) return;
    this.#ended.add(command);
    if (snapshot) this.#compare(snapshot);
    if ([...this.#running].some((one) => !this.#ended.has(one))) return;
    this.#running.clear();
    this.#ended.clear();
    this.#last = undefined;
  }

  #compare(snapshot: Snapshot): void {
    const commands = [...this.#running];
    if (this.#last && new Set(commands.map(({ threadId }) => threadId)).size > 1)
      for (const path of changedBetween(this.#last, snapshot)) for (const { shared } of commands) shared.add(path);
    this.#last = snapshot;
    for (const command of this.#ended) this.#running.delete(command);
    this.#ended.clear();
  }
}
