import type { Policies } from "../folds/control.ts";
import type { ThreadState } from "../folds/state.ts";
import type { PolicyLevels } from "../permissions/gate.ts";

/** The policies of the threads from the top-level one to a subagent's. The same object until one of them changes. */
export class TreePolicies {
  #last: PolicyLevels | undefined;

  of(threads: readonly { state: ThreadState }[]): PolicyLevels {
    const levels = threads.map(({ state }) => state.control.policies) as [Policies, ...Policies[]];
    const isSame = levels.length === this.#last?.length && levels.every((level, at) => level === this.#last?.[at]);
    return isSame ? this.#last! : (this.#last = levels);
  }
}
