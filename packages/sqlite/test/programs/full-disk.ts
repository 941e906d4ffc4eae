import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqliteStore } from "@cinch/sqlite";
import { created, input } from "../events.ts";

/** Fills the disk at the given path while a store is open, frees space again, and prints what happened. */
const folder = process.argv[2]!;
const path = join(folder, "cinch.db");
const ballast = join(folder, "ballast");

writeFileSync(ballast, new Uint8Array(1_000_000));
const store = sqliteStore({ path });
await store.open();
await store.append("t", [created()], { afterSeq: 0 });

let seq = 1;
const failures = new Set<string>();
const append = (bytes: number) => store.append("t", [input("x".repeat(bytes))], { afterSeq: seq });
for (const bytes of [20_000, 1000, 10]) {
  for (let full = false; !full;) {
    try {
      const result = await append(bytes);
      if (result.kind === "appended") seq = result.seq;
    } catch (error) {
      failures.add((error as { code: string }).code);
      full = true;
    }
  }
}
const events = await store.read("t");
rmSync(ballast);
const after = await append(50_000);
// Two appends share a transaction, and one of them is too large for the disk.
const both = await Promise.allSettled([
  store.append("t", [input("x".repeat(5_000_000))], { afterSeq: seq + 1 }),
  store.append("u", [created()], { afterSeq: 0 }),
]);
const integrity = new DatabaseSync(path).prepare("PRAGMA integrity_check").get()?.["integrity_check"];
await store.close();

console.log(
  JSON.stringify({
    failures: [...failures],
    keptAll: events.length === seq,
    readable: events.every((one, at) => one.seq === at + 1),
    wentOn: after.kind,
    tooLargeForTheRest: both.map((one) => (one.status === "fulfilled" ? one.value.kind : one.reason.code)),
    integrity,
  }),
);
