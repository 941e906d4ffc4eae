import { closedError } from "../errors.ts";
import { withTimeout } from "../ports/clock.ts";
import type { Decide } from "../turn/decide.ts";
import type { Thread } from "./thread.ts";

/**
 * Appends a driver's event outside a turn, under a lease that is taken and released in the same append: so a front may do it, too. False
 * if there was nothing to append.
 */
export async function appendAlone(thread: Thread, decide: Decide): Promise<boolean> {
  const { store, clock } = thread.ports;
  const releasing: Decide = (state) => {
    const proposal = decide(state);
    return proposal && { ...proposal, release: true };
  };
  for (;;) {
    if (thread.isClosed) throw closedError();
    const { epoch, status } = await store.lease(thread.id);
    if (status === "free" || status === "dead") {
      const { kind } = await thread.append(releasing, { take: epoch });
      if (kind === "appended") thread.supervisor.callForDriver();
      if (kind !== "refused") return kind === "appended";
    }
    // The driver may be doing what makes this unnecessary, or what has to be stopped first.
    if (!decide(thread.state)?.events.length) return false;
    await withTimeout(clock, thread.changed(), { ms: 20 });
  }
}
