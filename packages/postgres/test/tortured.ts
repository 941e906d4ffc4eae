import { basename } from "node:path";
import process from "node:process";
import { Client } from "pg";
import type { DurableEvent } from "@cinch/core";
import { postgresStore } from "@cinch/postgres";
import type { torture, TorturedStore } from "@cinch/testkit";
import { bundle } from "../../testkit/test/bundle.ts";
import { serverUrl } from "./server.ts";

/** The torture of the testkit, with threads in a schema that is named after the folder of the run. */
export async function torturedPostgres(): Promise<NonNullable<Parameters<typeof torture>[1]>> {
  const url = await serverUrl();
  process.env["TORTURED_URL"] = url;
  const query = async (text: string): Promise<Record<string, unknown>[]> => {
    const client = new Client(url);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  };
  const schemaOf = (folder: string) => `"${basename(folder)}"`;
  /** The scenario looks at what the store has and sends the rest: a transaction that is committed later would be done twice. */
  const transactionsToEnd = async (folder: string): Promise<void> => {
    const running = `SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%${basename(folder)}%pg_sleep%'`;
    while ((await query(`${running} AND pid <> pg_backend_pid()`)).length > 0)
      await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const of: TorturedStore = {
    async rows(folder) {
      await transactionsToEnd(folder);
      const [{ exists } = {}] = await query(`SELECT to_regclass('${schemaOf(folder)}.events') IS NOT NULL AS exists`);
      if (!exists) return [];
      const rows = await query(`SELECT journal, seq, body FROM ${schemaOf(folder)}.events ORDER BY journal, seq`);
      return rows.map(({ journal, seq, body }) => {
        const event = { ...JSON.parse(String(body)), seq } as DurableEvent;
        return { journal: Number(journal), seq: Number(seq), event };
      });
    },
    store: (folder) => postgresStore({ url, schema: basename(folder) }),
    async dispose(folder) {
      await query(`DROP SCHEMA IF EXISTS ${schemaOf(folder)} CASCADE`);
    },
  };
  const child = await bundle(new URL("./programs/torture-child.ts", import.meta.url));
  // Generous: the oracle looks for wrong results here, and a busy machine may be slow.
  return { child, of, endMs: 120_000, settleMs: 30_000 };
}
