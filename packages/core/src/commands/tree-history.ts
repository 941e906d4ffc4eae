import type { DurableEvent } from "../events/event-map.ts";
import { readEvent } from "../events/read-event.ts";
import type { Store } from "../ports/store.ts";
import type { Thread } from "../thread/thread.ts";

/** In ms. Both ends belong to it. */
interface Period {
  from: number;
  until: number;
}

interface TreeHistory {
  /** With what its subagents have done to files, in the order of time. */
  all: readonly DurableEvent[];
  /** Without its own subagents: what a clone has inherited of files. */
  inherited: readonly DurableEvent[];
}

/** Events of a thread after `since`, with what others have done to its files from then on. */
export async function treeHistory(thread: Thread, own: readonly DurableEvent[], since: number): Promise<TreeHistory> {
  const from = await timeOf(thread, since);
  const sources = await changesBelowSources(thread, from);
  const below = await changesBelow(thread.ports.store, thread.id, { from, until: Infinity });
  return { all: merged(own, from, [...sources, ...below]), inherited: merged(own, from, sources) };
}

const timeOf = async (thread: Thread, seq: number): Promise<number> =>
  seq === 0 ? 0 : ((await thread.read({ after: seq - 1, upTo: seq }))[0]?.at ?? 0);

/**
 * Without `rewound`: a rewind of the whole thread reverted the file to the content that the journal has from there on. But if `own` begins
 * between `thread_rewound` and this event, it is a change.
 */
function merged(own: readonly DurableEvent[], from: number, below: readonly DurableEvent[]): readonly DurableEvent[] {
  const rewinds = rewindsIn(own, from);
  const changes = own.filter((event, index) => {
    const isRestored = event.type === "file_changed" && event.rewound === true;
    return !isRestored || rewinds.every((rewind) => rewind.index > index);
  });
  const left = below.filter((event) => !rewinds.some((rewind) => hasReverted(rewind, event)));
  return left.length === 0 ? changes : [...changes, ...left].toSorted((a, b) => a.at - b.at);
}

/** The files that a rewind has restored or recorded again: the journal of the thread says what is left of earlier changes, also of subagents. */
interface Rewind extends Period {
  /** Of its event, in the events of the thread. */
  index: number;
  paths: ReadonlySet<string>;
}

function rewindsIn(own: readonly DurableEvent[], from: number): Rewind[] {
  return own.flatMap((event, index) => {
    if (event.type !== "thread_rewound") return [];
    const { at: until } = event;
    // They are in the append of the rewind.
    const paths = own.filter(({ at }) => at === until).flatMap(pathsIn);
    return { index, from: own[index - 1]?.at ?? from, until, paths: new Set(paths) };
  });
}

function pathsIn(event: DurableEvent): string[] {
  if (event.type === "file_changed") return [event.real ?? event.path];
  if (event.type !== "checkpoint_created") return [];
  return [...(event.restore ?? []), ...(event.left ?? [])].map(({ path }) => path);
}

/** What a subagent did after the rewind was planned is not reverted by it. */
const hasReverted = ({ from, until, paths }: Rewind, event: DurableEvent): boolean =>
  event.type === "file_changed" && event.at >= from && event.at <= until && paths.has(event.real ?? event.path);

/** A clone has the history of its source up to where it begins: also what the subagents of the source have done until then. */
async function changesBelowSources(thread: Thread, from: number): Promise<DurableEvent[]> {
  const { id, state, ports } = thread;
  const { store } = ports;
  const changes: DurableEvent[] = [];
  let clone = state.agent ? undefined : await store.thread(id);
  const history = clone?.parentId ? await thread.read({}) : [];
  while (clone?.parentId) {
    const { parentId, createdAt } = clone;
    // A rewind may have reverted where it begins, and is its first own event then.
    const isOwn = (event: DurableEvent) =>
      event.type === "thread_cloned"
        ? event.parent.threadId === parentId
        : event.type === "thread_rewound" && event.at >= createdAt;
    const begin = history.findIndex(isOwn);
    const until = history.at(begin < 0 ? -1 : begin - 1)?.at ?? 0;
    changes.push(...(await changesBelow(store, parentId, { from, until })));
    const source = (await store.thread(parentId)) && (await store.read(parentId)).map(readEvent);
    clone = isSubagent(source?.findLast(isBeginning)) ? undefined : await store.thread(parentId);
  }
  return changes;
}

async function changesBelow(store: Store, threadId: string, period: Period): Promise<DurableEvent[]> {
  const children = await store.threads({ parentId: threadId });
  const changes = children.map(async ({ id }) => {
    const events = (await store.read(id)).map(readEvent);
    // What a fork inherits is not its own. A clone that a person made is no subagent.
    const begin = events.findLastIndex(isBeginning);
    if (!isSubagent(events[begin])) return [];
    const own = events.slice(begin).filter(({ at }) => at >= period.from && at <= period.until);
    const all = merged(own, period.from, await changesBelow(store, id, period));
    return all.filter(({ type }) => type === "file_changed" || type === "checkpoint_created");
  });
  return (await Promise.all(changes)).flat();
}

const isBeginning = ({ type }: DurableEvent): boolean => type === "thread_created" || type === "thread_cloned";

const isSubagent = (beginning: DurableEvent | undefined): boolean =>
  beginning !== undefined && "agent" in beginning && beginning.agent !== undefined;
