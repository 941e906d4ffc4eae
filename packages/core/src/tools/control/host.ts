import type { DurableEvent } from "../../events/event-map.ts";
import type { Run } from "../../folds/runs.ts";
import type { ThreadState } from "../../folds/state.ts";
import type { ThreadRecord } from "../../ports/store.ts";
import type { Thread } from "../../thread/thread.ts";
import type { ToolContext } from "../tool.ts";

/** What control tools can see of their thread, besides the context that every tool gets. */
export interface ControlHost {
  readonly state: ThreadState;
  /** Keeps what a fork that this run starts inherits. */
  keepForFork(runId: string): void;
  /** An event of the thread. */
  event(seq: number): Promise<DurableEvent | undefined>;
  record(threadId: string): Promise<ThreadRecord | undefined>;
  /** The `seq` of the newest event of another thread. */
  lastSeq(threadId: string): Promise<number>;
  /** Whether the run has begun in its child. */
  hasStarted(run: Run): Promise<boolean>;
  /** Whether a child, or one below it, waits for a person. False if it is not open here. */
  isWaiting(threadId: string): boolean;
  now(): number;
  /** Settles when the condition holds, or after two seconds. */
  until(condition: (state: ThreadState) => boolean): Promise<void>;
  /** Opens another thread for the time that `work` takes. */
  visit<T>(threadId: string, work: (thread: Thread) => Promise<T>): Promise<T>;
}

const hosts = new WeakMap<object, ControlHost>();
const forChildren = new WeakSet<object>();

/** Suspends the call until its thread says that it may continue. No person can answer it. */
export function suspendForChildren(context: ToolContext, payload: unknown): never {
  forChildren.add(context);
  return context.suspend(payload);
}

export const isForChildren = (context: object): boolean => forChildren.has(context);

export const provideHost = (context: ToolContext, host: ControlHost): void => void hosts.set(context, host);

/** The host of a call. Other tools have no way to it. */
export const hostOf = (context: object): ControlHost => hosts.get(context)!;
