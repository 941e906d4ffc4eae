import type { Store, ThreadRecord } from "@cinch/core";
import { formatPlural } from "../../views/format.ts";
import { ageOf } from "../../threads/list-threads.ts";
import type { CommandContext, PickItem, PickList } from "./command.ts";

/** Of so many newest events of a thread, messages are counted. */
const COUNTED_EVENTS = 500;

/** The threads of the session, searched by their titles and texts. */
export async function threadList(
  context: CommandContext,
  options: { title: string; without?: string | null },
): Promise<PickList<string>> {
  const { title, without = null } = options;
  const load = async (query?: string) => {
    const found = await context.session.listThreads(query === undefined ? {} : { query });
    return threadItems(
      context,
      found.filter(({ id }) => id !== without),
    );
  };
  return { title, items: await load(), search: load };
}

async function threadItems(context: CommandContext, threads: readonly ThreadRecord[]): Promise<PickItem<string>[]> {
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
        await messagesIn(project.store, thread.id),
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

async function messagesIn(store: Store, threadId: string): Promise<string> {
  const events = await store.read(threadId, { limit: COUNTED_EVENTS, last: true }).catch(() => []);
  const count = events.filter((event) => event.type === "message_end" && event.message.role !== "note").length;
  return events.length < COUNTED_EVENTS ? formatPlural(count, "message") : `over ${formatPlural(count, "message")}`;
}
