import { CinchError } from "../errors.ts";
import { readEvent } from "../events/read-event.ts";
import type { AgentRecord, DurableEvent, HarnessEvent } from "../events/event-map.ts";
import { newDisplayState, reduceDisplayAll } from "../folds/display.ts";
import type { HarnessDisplayState, PendingApproval, PendingSuspension } from "../folds/display-state.ts";
import { sleep, type Clock } from "../ports/clock.ts";
import type { Store, ThreadRecord } from "../ports/store.ts";

/** The thread of a call that waits for a person. */
interface OfThread {
  title: string;
  resourceId: string;
  /** The top-level thread: the call's own, or the one above a subagent's. */
  rootThreadId: string;
}

/** A call that waits for an approval, with its thread. */
export interface ThreadApproval extends PendingApproval, OfThread {
  kind: "approval";
}

/** A call that waits for an answer, with its thread. */
export interface ThreadSuspension extends PendingSuspension, OfThread {
  /** `question`: of `ask_user`. `plan`: of `submit_plan`. `suspension`: of any other tool. */
  kind: "question" | "plan" | "suspension";
}

const CHUNK = 250;
/** How many threads are read at a time. */
const AT_ONCE = 8;
/** A store on the disk of this machine answers at once, so without pauses the event loop would be blocked until all threads are read. */
const PAUSE_AFTER_MS = 10;

/** The calls of all threads, or of those of a resource, that wait for a person, oldest first. Only threads with work left are read. */
export async function pendingCalls(
  { store, clock }: { store: Store; clock: Clock },
  { resourceId }: { resourceId?: string | undefined } = {},
): Promise<(ThreadApproval | ThreadSuspension)[]> {
  const active = await store.threads({ active: true, ...(resourceId === undefined ? {} : { resourceId }) });
  const found: (ThreadApproval | ThreadSuspension)[] = [];
  for (let at = 0, since = clock.now(); at < active.length; at += AT_ONCE) {
    const some = active.slice(at, at + AT_ONCE).map((thread) => pendingIn(store, thread).catch(unlessUnreadable));
    found.push(...(await Promise.all(some)).flat());
    if (clock.now() - since < PAUSE_AFTER_MS) continue;
    await sleep(clock, 0);
    since = clock.now();
  }
  return found.toSorted((a, b) => a.at - b.at || a.seq - b.seq);
}

async function pendingIn(store: Store, thread: ThreadRecord): Promise<(ThreadApproval | ThreadSuspension)[]> {
  const { pendingApprovals, pendingSuspensions } = await newestTurn(store, thread.id);
  const [approvals, suspensions] = [Object.values(pendingApprovals), Object.values(pendingSuspensions)];
  if (approvals.length + suspensions.length === 0) return [];
  const { id, title, resourceId } = thread;
  const { rootThreadId = id, path = [] } = (await agentOf(store, thread)) ?? {};
  const ofThread = { title, resourceId, rootThreadId };
  return [
    ...approvals.map((approval) => ({ kind: "approval" as const, ...approval, ...ofThread })),
    ...suspensions.map((one) => ({
      kind: KINDS.get(one.toolName) ?? ("suspension" as const),
      ...one,
      path,
      ...ofThread,
    })),
  ];
}

const KINDS: ReadonlyMap<string, "question" | "plan"> = new Map([
  ["ask_user", "question"],
  ["submit_plan", "plan"],
]);

/** Only calls of the newest turn can be pending, so only that turn is folded. */
async function newestTurn(store: Store, id: string): Promise<HarnessDisplayState> {
  let events: DurableEvent[] = [];
  for await (const page of newestFirst(store, id)) {
    events = [...page, ...events];
    if (page.some(beginsTurn)) break;
  }
  const since = events.findLastIndex(beginsTurn);
  const turn = events.slice(Math.max(0, since)).map((event) => readEvent(event) as HarnessEvent);
  return reduceDisplayAll(newDisplayState(id), turn);
}

const beginsTurn = (event: DurableEvent): boolean => event.type === "agent_start" && !event.resumed;

/** `null`: it is a top-level thread. */
async function agentOf(store: Store, { id, parentId }: ThreadRecord): Promise<AgentRecord | null> {
  if (parentId === null) return null;
  for await (const page of newestFirst(store, id)) {
    const event = page.findLast(namesAgent);
    if (event) return event.agent ?? null;
  }
  return null;
}

const namesAgent = (
  event: DurableEvent,
): event is DurableEvent<"thread_created" | "thread_cloned" | "thread_rewound"> =>
  event.type === "thread_created" || event.type === "thread_cloned" || event.type === "thread_rewound";

/** The events of a thread in pages, the newest page first. */
async function* newestFirst(store: Store, id: string): AsyncGenerator<DurableEvent[]> {
  for (let upTo = Infinity; ;) {
    const page = await store.read(id, { upTo, limit: CHUNK, last: true });
    yield page;
    if (page.length < CHUNK) return;
    upTo = page[0]!.seq - 1;
  }
}

/** A thread that was deleted meanwhile has no pending calls. A corrupt thread must not hide the pending calls of others. */
function unlessUnreadable(error: unknown): [] {
  if (error instanceof CinchError && (error.code === "THREAD_NOT_FOUND" || error.code === "CORRUPT")) return [];
  throw error;
}
