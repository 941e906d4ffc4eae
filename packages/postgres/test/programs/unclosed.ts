import process from "node:process";
import { postgresStore, type PostgresOptions } from "@cinch/postgres";
import { created, event, input } from "../events.ts";

/** Opens a store, takes a lease, follows a thread, starts an append, and ends without awaiting it or closing the store. */
const store = postgresStore(JSON.parse(process.argv[2]!) as PostgresOptions);
await store.open();
await store.append("t", [created(), event("agent_start")], { afterSeq: 0, take: 0 });
store.follow("t", () => undefined);
store.append("t", [input("last words")], { afterSeq: 2 }).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
