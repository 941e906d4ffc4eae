import { readFile } from "node:fs/promises";
import type { DurableEvent } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import type { LedgerLine } from "../tools/ledger.ts";
import { callText } from "./show.ts";

/** One call, as the ledger has it: who began it, and who ended it. */
export interface Ran {
  call: string;
  begun: number[];
  ended: number[];
}

/** What the tools themselves wrote down, call by call. */
export async function ledgerOf(path: string): Promise<Ran[]> {
  const runs = new Map<string, Ran>();
  for (const line of (await readFile(path, "utf8")).trim().split("\n")) {
    const { key, tool, args, what, pid } = JSON.parse(line) as LedgerLine;
    const ran = runs.get(key) ?? { call: callText(tool, args), begun: [], ended: [] };
    runs.set(key, ran);
    (what === "begin" ? ran.begun : ran.ended).push(pid);
  }
  return [...runs.values()];
}

/** The journal, read from the file once nobody has it open any more. */
export async function journalOf(path: string, threadId: string): Promise<DurableEvent[]> {
  const store = sqliteStore({ path });
  await store.open();
  try {
    return await store.read(threadId);
  } finally {
    await store.close();
  }
}

/** What is not as promised. Empty, one hopes. */
export function broken(journal: readonly DurableEvent[], ledger: readonly Ran[]): string[] {
  const twice = ledger.filter(({ begun, ended }) => begun.length > 1 || ended.length > 1);
  const unknown = journal.filter((event) => event.type === "tool_end" && event.unknown);
  const unended = ledger.filter(({ ended }) => ended.length === 0);
  return [
    ...twice.map(({ call }) => `${call} ran more than once`),
    ...(journal.every(({ seq }, at) => seq === at + 1) ? [] : ["the journal has a gap"]),
    ...(journal.at(-1)?.type === "agent_end" ? [] : ["the turn did not end"]),
    ...(unknown.length === unended.length ? [] : ["a call that was cut off was not reported as unknown"]),
  ];
}
