import { sqliteStore } from "@cinch/sqlite";
import { created, event, input } from "./support.ts";

/** Opens a store, holds a lease, follows, asks for something, and neither waits for it nor closes. */
const store = sqliteStore({ path: process.argv[2]! });
await store.open();
await store.append("t", [created(), event("agent_start")], { afterSeq: 0, take: 0 });
store.follow("t", () => undefined);
store.append("t", [input("last words")], { afterSeq: 2 }).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
