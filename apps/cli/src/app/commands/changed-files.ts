import type { Store } from "@cinch/core";
import type { DurableEvent } from "@cinch/core/journal";

type FileEvent = DurableEvent<"file_changed">;

/** The changes of files in a thread from a message on, and of its subagents since then, oldest first. */
export async function changesSince(
  store: Store,
  threadId: string,
  { at, seq = 0 }: { at: number; seq?: number },
): Promise<FileEvent[]> {
  const own = (await store.read(threadId, { after: seq })).filter(isChange).filter((change) => change.at >= at);
  const children = await store.threads({ parentId: threadId });
  const below = await Promise.all(children.map(({ id }) => changesSince(store, id, { at })));
  return [...own, ...below.flat()].toSorted((one, other) => one.at - other.at);
}

/** Files of which the contents differ from those at the time. */
export function countChanged(changes: readonly FileEvent[], since: number): number {
  const files = new Map<string, { before: string | null; after: string | null }>();
  for (const { path, before, after, at } of changes) {
    if (at < since) continue;
    const first = files.get(path)?.before;
    files.set(path, { before: first === undefined ? (before?.hash ?? null) : first, after: after?.hash ?? null });
  }
  return [...files.values()].filter(({ before, after }) => before !== after).length;
}

/** What is stored in the journal itself is recorded by the tool that wrote it, too. */
const isChange = (event: DurableEvent): event is FileEvent => event.type === "file_changed" && !event.held;
