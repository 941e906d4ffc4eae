import type { Place } from "./place.ts";

/** In the order in which their rows can be inserted. */
const TABLES = "meta threads heads segments events blobs blob_refs said dirty drafts folds holders".split(" ");

/** The rows of a schema, as SQL in which `cinch.` stands for it. `pg_dump` does not come with the server for tests. */
export async function rowsOf(place: Place): Promise<string> {
  const statements: string[] = [];
  for (const table of TABLES) {
    const rows = await place.query(`SELECT to_jsonb(t)::text AS row FROM cinch.${table} t ORDER BY t::text`);
    const list = rows.map(({ row }) => `  ${String(row)}`).join(",\n");
    if (rows.length > 0)
      statements.push(
        `INSERT INTO cinch.${table} SELECT * FROM jsonb_populate_recordset(NULL::cinch.${table}, $rows$[\n${list}\n]$rows$);`,
      );
  }
  for (const table of ["threads", "holders"]) {
    const [row] = await place.query(`SELECT coalesce(max(no), 1) AS last FROM cinch.${table}`);
    statements.push(`SELECT setval(pg_get_serial_sequence('cinch.${table}', 'no'), ${String(row!["last"])});`);
  }
  const [row] = await place.query("SELECT last_value AS last FROM cinch.touches");
  statements.push(`SELECT setval('cinch.touches', ${String(row!["last"])});`);
  return `${statements.join("\n")}\n`;
}

export async function restore(place: Place, sql: string): Promise<void> {
  await place.query(`CREATE SCHEMA "${place.schema}"`);
  await place.query(sql);
}
