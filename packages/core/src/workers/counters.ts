import { Latencies } from "./latencies.ts";

/** What the threads of one harness count while they work. `metrics()` shows it. */
export class Counters {
  /** Turns that this process has continued because their driver died. */
  takeovers = 0;
  /** Appends of this process that a stale lease refused. */
  refusedAppends = 0;
  wakesSent = 0;
  wakesFailed = 0;
  /** From the call of the store until the events are on disk. */
  readonly append = new Latencies();
  /** From an event of another process until it is folded here, by the clocks of both. */
  readonly follow = new Latencies();
}
