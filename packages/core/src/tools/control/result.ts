import type { NewEvent } from "../../events/event-map.ts";
import type { Json } from "../../events/message.ts";
import type { ThreadState } from "../../folds/state.ts";

/** The result of a control tool, with the events that it appends. */
export interface Settlement {
  /** `null`: the call does not end. Its events say what it waits for. */
  content: string | null;
  isError?: boolean;
  details?: Json;
  events?: NewEvent[];
}

/**
 * What a control tool returns. The append that ends the call calls `settle` with the state of that moment. The class is not exported
 * from the package, so other tools can't append events.
 */
export class ControlResult {
  readonly settle: (state: ThreadState) => Settlement;

  constructor(settle: (state: ThreadState) => Settlement) {
    this.settle = settle;
  }
}
