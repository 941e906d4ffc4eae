import { readFile } from "node:fs/promises";
import type { DurableEvent } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import type { LedgerLine } from "../tools/ledger.ts";
import { callText } from "./demo-view.ts";

/** One call in the ledger, with the pids of the processes in which it began and ended. */
export interface CallRecord {
  call: string;
  begun: number[];
  ended: number[];
}

/** The calls that the tools recorded. */
export async function ledgerOf(path: string): Promise<CallRecord[]> {
  const runs = new Map<string, CallRecord>();
  for (const line of (await readFile(path, "utf8")).trim().split("\n")) {
    const { key, tool, args, what, pid } = JSON.parse(line) as LedgerLine;
    const ran = runs.get(key) ?? { call: callText(tool, args), begun: [], ended: [] };
    runs.set(key, ran);
    (what === "begin" ? ran.begun : ran.ended).push(pid);
  }
  return [...runs.values()];
}

export async function journalOf(path: string, threadId: string): Promise<DurableEvent[]> {
  const store = sqliteStore({ path });
  await store.open();
  try {
    return await store.read(threadId);
  } finally {
    await store.close();
  }
}

/** The promises that were broken. */
export function violations(journal: readonly DurableEvent[], ledger: readonly CallRecord[]): string[] {
  const twice = ledger.filter(({ begun, ended }) => begun.length > 1 || ended.length > 1);
  const unknown = journal.filter((event) => event.type === "tool_end" && event.unknown);
  const unended = ledger.filter(({ ended }) => ended.length === 0);
  return [
    ...twice.map(({ call }) => `${call} ran more than once`),
    ...(journal.every(({ seq }, at) => seq === at + 1) ? [] : ["the journal has a gap"]),
    ...(journal.at(-1)?.type === "agent_end" ? [] : ["the turn did not end"]),
    ...(unknown.length === unended.length ? [] : ["an interrupted call was not reported as unknown"]),
  ];
}
