import { writeSync } from "node:fs";
import { sqliteStore } from "@cinch/sqlite";
import { created, input } from "./support.ts";

/** Says so, in one system call, whenever an append is answered. */
const store = sqliteStore({ path: process.argv[2]!, indexMs: 100_000 });
await store.open();
await store.append("t", [created()], { afterSeq: 0 });
for (let afterSeq = 1; afterSeq <= 20; afterSeq++) {
  await store.append("t", [input("x".repeat(afterSeq * 100))], { afterSeq });
  writeSync(1, "answered\n");
}
await store.close();
