import type { Live } from "../ports/live.ts";
import type { Store } from "../ports/store.ts";
import type { OpenThreads } from "../turn/driver.ts";

/** Must be called before a thread is driven: other processes find this one by the address that its leases have. */
export async function openLive(live: Live | undefined, store: Store, threads: OpenThreads): Promise<void> {
  const opened = await live?.open({
    watch: (threadId, read, from) => threads.opened(threadId)?.feed.watch(read, from),
  });
  if (opened?.address !== undefined) await store.announce?.({ address: opened.address });
}
