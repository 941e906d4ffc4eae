import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { DriveOutcome, Placement } from "@cinch/core";
import { eventually } from "../store-conformance/samples.ts";

/** What a worker does with a thread. `nth` counts its drives of this thread, from 1. */
export type DriveScript = (threadId: string, nth: number) => DriveOutcome | Promise<DriveOutcome>;

/** A worker that drives nothing: it records which threads it is brought, and answers as its check says. */
export class ScriptedWorker {
  readonly placement: Placement;
  readonly #drives: string[] = [];
  readonly #drive: DriveScript;

  private constructor(placement: Placement, drive: DriveScript) {
    this.placement = placement;
    this.#drive = drive;
  }

  static async serving(placement: Placement, drive: DriveScript = () => "done"): Promise<ScriptedWorker> {
    const worker = new ScriptedWorker(placement, drive);
    await placement.serve((threadId) => worker.#brought(threadId));
    return worker;
  }

  /** How often it was brought this thread. */
  drives(threadId: string): number {
    return this.#drives.filter((one) => one === threadId).length;
  }

  /** The threads that it was brought, each once. */
  get threads(): string[] {
    return [...new Set(this.#drives)].toSorted();
  }

  async #brought(threadId: string): Promise<DriveOutcome> {
    this.#drives.push(threadId);
    return this.#drive(threadId, this.drives(threadId));
  }
}

/** A drive that goes on until the check ends it. */
export class OpenDrive {
  readonly #end = Promise.withResolvers<DriveOutcome>();
  readonly drive = (): Promise<DriveOutcome> => this.#end.promise;

  end(outcome: DriveOutcome): void {
    this.#end.resolve(outcome);
  }
}

const LIMIT_MS = 300_000;

/** Waits for what an engine does within milliseconds. The limit is for busy machines. */
export const arrives = (condition: () => boolean | Promise<boolean>, what: string): Promise<void> =>
  eventually(condition, what, { ms: LIMIT_MS });

/** Fails if the promise is still pending after so long that only a promise that never settles can be. */
export async function settles(promise: Promise<unknown>, what: string): Promise<void> {
  const late = Symbol("late");
  const settled = promise.then(
    () => undefined,
    () => undefined,
  );
  assert.notEqual(await Promise.race([settled, pause(LIMIT_MS, late, { ref: false })]), late, `${what} never settled`);
}
