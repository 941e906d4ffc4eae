import type { Store, ThreadRecord } from "@cinch/core";
import { UsageError } from "../exit.ts";
import { short } from "../terminal/sanitise.ts";
import { shownPath } from "./open-store.ts";

const SHOWN = 3;

/** The thread with this id, or the one whose id begins so, with or without `thread_`. Throws `UsageError` with the ids that are known. */
export async function findThread(store: Store, { id, path }: { id: string; path: string }): Promise<ThreadRecord> {
  const exact = await store.thread(id);
  if (exact) return exact;
  const all = await store.threads({ topLevel: true });
  const found =
    id === "" ? [] : all.filter((thread) => [id, `thread_${id}`].some((start) => thread.id.startsWith(start)));
  const [only, ...others] = found;
  if (only && others.length === 0) return only;
  if (only)
    throw new UsageError(`${found.length} threads begin with "${short(id)}":${listed(found.slice(0, SHOWN * 3))}`);
  const known = all.length === 0 ? "" : `\nThe newest are:${listed(all.slice(0, SHOWN))}`;
  throw new UsageError(`There is no thread "${short(id)}" in ${shownPath(path)}.${known}`);
}

const listed = (threads: readonly ThreadRecord[]): string =>
  threads.map(({ id, title }) => `\n  ${id}  ${short(title, 60)}`).join("");
