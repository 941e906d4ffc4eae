import type { DurableEvent } from "../events/event-map.ts";
import { readEvent } from "../events/read-event.ts";
import type { Store } from "../ports/store.ts";
import type { Thread } from "../thread/thread.ts";

/** Events of a thread after `since`, with what its subagents have done to files from then on, in the order of time. */
export async function withDescendants(
  thread: Thread,
  own: readonly DurableEvent[],
  since: number,
): Promise<readonly DurableEvent[]> {
  const at = since === 0 ? 0 : ((await thread.read({ after: since - 1, upTo: since }))[0]?.at ?? 0);
  const below = await changesBelow(thread.ports.store, thread.id, at);
  return below.length === 0 ? own : [...own, ...below].toSorted((a, b) => a.at - b.at);
}

async function changesBelow(store: Store, threadId: string, at: number): Promise<DurableEvent[]> {
  const children = await store.threads({ parentId: threadId });
  const changes = children.map(async ({ id }) => {
    const events = (await store.read(id)).map(readEvent);
    // What a fork inherits is not its own. A clone that a person made is no subagent.
    const begin = events.findLastIndex(({ type }) => type === "thread_created" || type === "thread_cloned");
    const first = events[begin];
    if (!first || !("agent" in first) || first.agent === undefined) return [];
    const later = events.slice(begin).filter((event) => event.at >= at);
    const own = later.filter(({ type }) => type === "file_changed" || type === "checkpoint_created");
    return [...own, ...(await changesBelow(store, id, at))];
  });
  return (await Promise.all(changes)).flat();
}
