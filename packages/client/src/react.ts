import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { HarnessDisplayState, ThreadApproval, ThreadRecord, ThreadSuspension } from "@cinch/core";
import type { Client, RemoteSession } from "./index.ts";
export function useThread<T = HarnessDisplayState>(session: RemoteSession, select: (display: HarnessDisplayState) => T = (display) => display as T): T {
  const get = () => select(session.getDisplayState());
  return useSyncExternalStore((changed: () => void) => session.subscribe((event) => void ((event.type === "display_state_changed" || event.type === "resync") && changed())), get, get);
}
export function useThreads(client: Client, query: { query?: string } = {}): readonly ThreadRecord[] {
  const [list, setList] = useState<readonly ThreadRecord[]>([]);
  const key = JSON.stringify(query);
  useEffect(() => {
    let gone = false;
    const load = () => client.listThreads({ limit: 100, ...query }).then((all) => void (gone || setList(all))).catch(() => {});
    void load();
    let changes: AsyncIterableIterator<unknown> | undefined;
    void (async () => { changes = await client.followThreads(); for await (const _ of changes) { if (gone) break; void load(); } })().catch(() => {});
    return () => { gone = true; void changes?.return?.(); };
  }, [client, key]);
  return list;
}
export function usePending(client: Client): readonly (ThreadApproval | ThreadSuspension)[] {
  const [list, setList] = useState<readonly (ThreadApproval | ThreadSuspension)[]>([]);
  useEffect(() => {
    let gone = false;
    const load = () => client.pending().then((all) => void (gone || setList(all))).catch(() => {});
    void load();
    const timer = setInterval(load, 2000);
    return () => { gone = true; clearInterval(timer); };
  }, [client]);
  return list;
}
