import type { Store, ThreadRecord } from "@cinch/core";
import { formatPlural } from "../../views/format.ts";
import { ageOf } from "../../threads/list-threads.ts";
import type { CommandContext, PickItem, PickList } from "./command.ts";

/** Of so many newest events of a thread, messages are counted: a list of fifty threads must open at once. */
const COUNTED_EVENTS = 200;

/** The threads of the session, searched by their titles and texts. */
export async function threadList(
  context: CommandContext,
  options: { title: string; without?: string | null },
): Promise<PickList<string>> {
  const { title, without = null } = options;
  const counts = new MessageCounts(context.project.store);
  const load = async (query?: string) => {
    const found = await context.session.listThreads(query === undefined ? {} : { query });
    const listed = found.filter(({ id }) => id !== without);
    return threadItems(listed, { context, counts });
  };
  return { title, items: await load(), search: load };
}

interface ListContext {
  context: CommandContext;
  counts: MessageCounts;
}

async function threadItems(
  threads: readonly ThreadRecord[],
  { context, counts }: ListContext,
): Promise<PickItem<string>[]> {
  const { project, session } = context;
  const pending = await project.harness.pending({ resourceId: session.resourceId });
  const asking = new Set(pending.map(({ rootThreadId }) => rootThreadId));
  const { now } = context.screen();
  return Promise.all(
    threads.map(async (thread) => ({
      value: thread.id,
      label: titleOf(thread),
      details: [
        stateOf(thread, asking),
        ageOf(now - thread.updatedAt),
        await counts.of(thread),
        thread.id === session.getCurrentThreadId() ? "this one" : "",
      ],
    })),
  );
}

/** A thread gets its title with its first message. */
export const titleOf = ({ title }: Pick<ThreadRecord, "title">): string => (title === "" ? "(no title)" : title);

function stateOf({ id, active }: ThreadRecord, asking: ReadonlySet<string>): string {
  if (asking.has(id)) return "asks you";
  return active ? "running" : "";
}

/** A search lists the same threads after each letter, and each is counted once. */
class MessageCounts {
  readonly #store: Store;
  readonly #known = new Map<string, Promise<string>>();

  constructor(store: Store) {
    this.#store = store;
  }

  of({ id }: ThreadRecord): Promise<string> {
    const known = this.#known.get(id) ?? this.#count(id);
    this.#known.set(id, known);
    return known;
  }

  async #count(id: string): Promise<string> {
    // A thread that can't be read is listed all the same.
    const events = await this.#store.read(id, { limit: COUNTED_EVENTS, last: true }).catch(() => []);
    const count = events.filter((event) => event.type === "message_end" && event.message.role !== "note").length;
    return events.length < COUNTED_EVENTS ? formatPlural(count, "message") : `over ${formatPlural(count, "message")}`;
  }
}
