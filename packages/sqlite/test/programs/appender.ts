import { writeSync } from "node:fs";
import { sqliteStore } from "@cinch/sqlite";
import { created, event, input } from "../events.ts";

/** Large enough that checkpoints happen while drafts are saved, not while events are appended. */
const LARGE = 450_000;

/**
 * Prints a line, in one system call, after each append. Between appends it saves drafts, which need no sync. Nothing else is written: a
 * renewed lease, which needs no sync either, could come between a sync and its answer.
 */
const QUIET_MS = 1_000_000;
const store = sqliteStore({ path: process.argv[2]!, indexMs: QUIET_MS, renewMs: QUIET_MS, periodMs: 5 * QUIET_MS });
await store.open();
await store.append("t", [created(), event("agent_start")], { afterSeq: 0, take: 0 });
for (let at = 1; at <= 20; at++) {
  const text = "d".repeat(at % 2 === 0 ? LARGE : 10);
  if (at > 3) await store.saveDraft("t", 1, [{ messageId: "m", index: 0, part: "text", text }]);
  await store.append("t", [input("x".repeat(at * 100))], { afterSeq: at + 1 });
  writeSync(1, "answered\n");
}
await store.close();
