import type { Client } from "@cinch/client";
import type { VNode } from "preact";
import { useErrorBoundary, useLayoutEffect } from "preact/hooks";
import { usePage } from "../page-context.ts";

interface Props<T> {
  /** Such as `useThreads`. It throws for a list that the server refuses. */
  useList: (client: Client) => T;
  /** What is in it, at the beginning of a sentence. */
  name: string;
  onList: (list: T) => void;
}

/** Loads a list for the page. It draws nothing but why that failed: the page can be used without the list. */
export function ListLoader<T>(props: Props<T>): VNode {
  const [failure, retry] = useErrorBoundary() as [Error | undefined, () => void];
  if (!failure) return <Loading {...props} />;
  return (
    <p class="failure" role="alert">
      {props.name} can't be loaded: {failure.message}{" "}
      <button type="button" onClick={retry}>
        Try again
      </button>
    </p>
  );
}

function Loading<T>({ useList, onList }: Props<T>): null {
  const list = useList(usePage().client);
  useLayoutEffect(() => onList(list), [list]);
  return null;
}
