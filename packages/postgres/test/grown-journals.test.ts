import assert from "node:assert/strict";
import { test } from "node:test";
import type { DurableEvent } from "@cinch/core";
import { GrownJournals } from "../src/grown-journals.ts";
import type { JournalReader } from "../src/journal-reader.ts";
import { until } from "./until.ts";

/** The events of each thread that a query finds. */
type Found = Readonly<Record<string, readonly number[]>>;

async function delivered(found: Found, seqs: Readonly<Record<string, number>>): Promise<unknown[]> {
  const events = Object.entries(found).map(([id, all]) => [id, all.map((seq) => ({ seq }) as DurableEvent)] as const);
  const reader = { appended: async () => new Map(events) } as unknown as JournalReader;
  const got: unknown[] = [];
  const grown = new GrownJournals(reader, (id, seq, some) => got.push([id, seq, some?.map((event) => event.seq)]));
  for (const [id, seq] of Object.entries(seqs)) grown.add(id, { after: 0, seq });
  await until("all of them", () => got.length === Object.keys(seqs).length);
  return got;
}

test("events that do not reach as far as the journal are not passed on: their reader reads all of them", async () => {
  assert.deepEqual(await delivered({ cut: [1, 2], whole: [1, 2, 3] }, { cut: 5, whole: 3, none: 2 }), [
    ["cut", 5, undefined],
    ["whole", 3, [1, 2, 3]],
    ["none", 2, undefined],
  ]);
});
