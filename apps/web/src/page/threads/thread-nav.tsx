import { usePending, useThreads } from "@cinch/client/react";
import type { Client } from "@cinch/client";
import type { ThreadApproval, ThreadRecord, ThreadSuspension } from "@cinch/core";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useMay, usePage } from "../page-context.ts";
import { isComposing } from "../ui/composition.ts";
import { ListLoader } from "./list-loader.tsx";
import { when } from "../ui/format.ts";

type Pending = readonly (ThreadApproval | ThreadSuspension)[];

interface Props {
  current: string | null;
  /** `undefined` until they are loaded. */
  threads: readonly ThreadRecord[] | undefined;
  pending: Pending | undefined;
  /** Threads that are about to be deleted. */
  hidden: ReadonlySet<string>;
  onThreads: (threads: readonly ThreadRecord[] | undefined) => void;
  onPending: (pending: Pending | undefined) => void;
  onDelete: (thread: ThreadRecord) => void;
}

const NO_THREADS: readonly ThreadRecord[] = [];

/** The threads of the user: what runs, what waits, and what was said, by search. */
export function ThreadNav(props: Props): VNode {
  const { current, threads: loaded, pending = [], hidden, onDelete } = props;
  const { client, open, addressOf, guide } = usePage();
  const [mayTalk, mayManage] = [useMay("talk"), useMay("manage")];
  const [query, setQuery] = useState("");
  const sought = useSettled(query.trim());
  const all = loaded ?? NO_THREADS;
  const found = useFound(client, sought, all);
  const threads = found ?? all;
  const waiting = new Set(pending.map(({ rootThreadId }) => rootThreadId));
  const shown = threads.filter(({ id }) => !hidden.has(id));
  return (
    <nav class="threads" aria-label="Threads">
      <div class="threads-top">
        <p class="brand">Cinch</p>
        {mayTalk && (
          <button type="button" onClick={() => open(null)}>
            {guide ? "Leave the tour" : "New thread"}
          </button>
        )}
      </div>
      <label class="search">
        <span class="sr-only">Search threads</span>
        <input
          type="search"
          placeholder="Search"
          value={query}
          onInput={({ currentTarget }) => setQuery(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape" || query === "" || isComposing(event)) return;
            event.preventDefault();
            setQuery("");
          }}
        />
      </label>
      <ul>
        {shown.map((thread) => (
          <li key={thread.id} class={thread.id === current ? "current" : undefined}>
            <a
              href={addressOf(thread.id)}
              aria-current={thread.id === current ? "page" : undefined}
              onClick={(event) => {
                event.preventDefault();
                open(thread.id);
              }}
            >
              <Mark waits={waiting.has(thread.id)} isActive={thread.active} />
              <span class="title" dir="auto">
                {thread.title || "Untitled"}
              </span>
              <time dateTime={new Date(thread.updatedAt).toISOString()}>{when(thread.updatedAt, Date.now())}</time>
            </a>
            {mayManage && (
              <button
                type="button"
                class="quiet"
                aria-label={`Delete ${thread.title || "Untitled"}`}
                onClick={({ currentTarget }) => {
                  focusBeside(currentTarget.closest("li")!);
                  onDelete(thread);
                }}
              >
                ×
              </button>
            )}
          </li>
        ))}
      </ul>
      <ListLoader name="The threads" useList={useThreads} onList={props.onThreads} />
      <ListLoader name="What waits for you" useList={usePending} onList={props.onPending} />
      {loaded && shown.length === 0 && <p class="nothing">{sought === "" ? "No thread yet." : "Nothing found."}</p>}
    </nav>
  );
}

/** The focus of a thread that is about to leave the list stays in it. */
function focusBeside(item: HTMLElement): void {
  const next = item.nextElementSibling ?? item.previousElementSibling;
  (next?.querySelector("a") ?? document.querySelector<HTMLElement>(".search input"))?.focus();
}

/** The threads that contain the words, searched again when a thread changes. `null`: nothing is sought. */
function useFound(client: Client, query: string, all: readonly ThreadRecord[]): readonly ThreadRecord[] | null {
  const { report } = usePage();
  const [found, setFound] = useState<readonly ThreadRecord[] | null>(null);
  useEffect(() => {
    if (query === "") return setFound(null);
    let isGone = false;
    client.listThreads({ query, limit: 100 }).then((threads) => void (isGone || setFound(threads)), report);
    return () => {
      isGone = true;
    };
  }, [client, query, all, report]);
  return found;
}

function Mark({ waits, isActive }: { waits: boolean; isActive: boolean }): VNode {
  if (waits)
    return (
      <span class="mark waits" title="Waits for you">
        ◆<span class="sr-only">waits for you</span>
      </span>
    );
  return isActive ? (
    <span class="mark runs" title="Works">
      ●<span class="sr-only">works</span>
    </span>
  ) : (
    <span class="mark" />
  );
}

/** The value when it has not changed for a moment. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), 150);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
