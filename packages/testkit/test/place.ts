import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DurableEvent } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";

/** A folder with a store that has one thread, "t". */
export async function place(): Promise<
  AsyncDisposable & { folder: string; journal(): Promise<DurableEvent[]>; ledger(): string[] }
> {
  const folder = mkdtempSync(join(tmpdir(), "cinch-seats-"));
  const open = async () => {
    const store = sqliteStore({ path: join(folder, "cinch.db") });
    await store.open();
    return store;
  };
  const store = await open();
  await store.append("t", [{ type: "thread_created", v: 1, at: 1, title: "", resourceId: "default" }], { afterSeq: 0 });
  await store.close();
  return {
    folder,
    ledger: () => {
      const ledger = join(folder, "ledger");
      return existsSync(ledger) ? readFileSync(ledger, "utf8").trim().split("\n") : [];
    },
    async journal() {
      const again = await open();
      const events = await again.read("t");
      await again.close();
      return events;
    },
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
    },
  };
}

export const ofType = <T extends DurableEvent["type"]>(events: readonly DurableEvent[], type: T) =>
  events.filter((event): event is Extract<DurableEvent, { type: T }> => event.type === type);
