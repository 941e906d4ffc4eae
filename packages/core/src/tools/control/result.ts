import type { NewEvent } from "../../events/event-map.ts";
import type { Json } from "../../events/message.ts";
import type { ThreadState } from "../../folds/state.ts";

/** What a control tool does to its thread. It is decided in the append that ends the call, from the state of that moment. */
export interface Settlement {
  content: string;
  details?: Json;
  events?: NewEvent[];
}

/** What a control tool gives back. Tools of users have no way to make one: only these write events of their own. */
export class ControlResult {
  readonly settle: (state: ThreadState) => Settlement;

  constructor(settle: (state: ThreadState) => Settlement) {
    this.settle = settle;
  }
}
