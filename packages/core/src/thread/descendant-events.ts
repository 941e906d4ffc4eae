import type { OnSubagentEvent } from "../config/agent.ts";
import type { Thread } from "./thread.ts";

/** Passes the events of subagents that this process drives to `onSubagentEvent` of the agents above them. */
export class DescendantEvents {
  readonly #thread: Thread;
  /** The thread above this one, if it follows this thread. */
  readonly listeners = new Set<OnSubagentEvent>();

  constructor(thread: Thread) {
    this.#thread = thread;
  }

  readonly pass: OnSubagentEvent = (path, event) => {
    const { modes } = this.#thread.ports;
    const { modeId } = this.#thread.state.control;
    const agent = modeId === null || modes.has(modeId) ? modes.current({ modeId }).agent : undefined;
    try {
      agent?.onSubagentEvent?.(path, event);
    } catch (error) {
      this.#thread.report(`onSubagentEvent of agent "${agent?.name}" threw`, error);
    }
    for (const listener of this.listeners) listener(path, event);
  };
}
