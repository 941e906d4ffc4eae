import { CinchError } from "@cinch/core";
import type { Database, Transaction } from "./database.ts";
import { APPEND_MANY } from "./sql/append-function.ts";
import { HOLDER_FUNCTIONS } from "./sql/holder-functions.ts";
import { TABLES } from "./sql/tables.ts";
import { DELETE_THREAD, INDEX_WORDS, PURGE, REWIND_SEGMENTS, SAVE_DRAFT } from "./sql/thread-functions.ts";
import { WAITING_FUNCTIONS } from "./sql/waiting-functions.ts";

const ONLY_FUNCTIONS = "";

/**
 * `migrations[n]` upgrades the tables of a schema from format `n` to `n + 1`; a released one is never edited. The functions follow: they are
 * replaced by those of the newest format. With both, the release before must still work: processes of both run side by side during a deploy.
 */
export const migrations: readonly string[] = [TABLES, ONLY_FUNCTIONS, ONLY_FUNCTIONS];

/** They name their schema. A change of one is a new format. One whose parameters or result change gets another name. */
export const FUNCTIONS =
  [PURGE, REWIND_SEGMENTS, DELETE_THREAD, SAVE_DRAFT, INDEX_WORDS].join("\n") +
  HOLDER_FUNCTIONS +
  WAITING_FUNCTIONS +
  APPEND_MANY;

const FORMAT = migrations.length;
const PROGRAM = "cinch";
/** Between two statements, a process that creates or upgrades the schema needs no time. One that is stopped holds up all others. */
const SILENT_MS = 10_000;
const OLDEST_SERVER = 140_000;

interface Found extends Record<string, unknown> {
  encoding: string;
  server: number;
  exists: boolean;
  objects: number;
  meta: boolean;
  /** The schema was renamed: its functions would write to the one that has its old name. */
  renamed: boolean;
}

/** Creates the schema or upgrades it. Several processes may do so at once. Throws for one of another program or of a newer release. */
export async function prepareSchema(database: Database): Promise<void> {
  await database.transaction(async (client) => {
    // The server ends a session that has the lock and falls silent. A limit of the role for statements would cut the wait for the lock, or a step.
    await client.query(
      `SELECT set_config('idle_in_transaction_session_timeout', '${SILENT_MS}', true), set_config('statement_timeout', '0', true)`,
    );
    // The first number is ours alone, by convention; the second separates schemas.
    await client.query("SELECT pg_advisory_xact_lock(1131307880, hashtext($1))", [database.schema]);
    const found = await inspect(client, database);
    const format = found.meta ? await formatOf(client, database) : 0;
    const isTooNew = format > FORMAT + 1 || (found.renamed && format > FORMAT);
    if (isTooNew) throw newerFormat(database, format);
    if (format >= FORMAT && !found.renamed) return;
    if (!found.exists) await client.query(database.sql("CREATE SCHEMA cinch.").replace(/\.$/, ""));
    for (const step of migrations.slice(format)) await client.query(database.sql(step));
    await client.query(database.sql(FUNCTIONS));
    await client.query(database.sql("DELETE FROM cinch.meta"));
    await client.query(database.sql("INSERT INTO cinch.meta (program, format) VALUES ($1, $2)"), [PROGRAM, FORMAT]);
  });
}

async function inspect(client: Transaction, database: Database): Promise<Found> {
  const { rows } = await client.query<Found>(
    `SELECT current_setting('server_encoding') AS encoding, current_setting('server_version_num')::integer AS server,
       n.oid IS NOT NULL AS exists, (SELECT count(*) FROM pg_class c WHERE c.relnamespace = n.oid) AS objects,
       EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = n.oid AND c.relname = 'meta') AS meta,
       EXISTS (SELECT 1 FROM pg_proc p WHERE p.pronamespace = n.oid AND p.proname = 'append_many' AND position($2 IN p.prosrc) = 0) AS renamed
     FROM (SELECT 1) AS one LEFT JOIN pg_namespace n ON n.nspname = $1`,
    [database.schema, database.sql("cinch.heads")],
  );
  const found = rows[0]!;
  const { encoding, server, objects, meta } = found;
  if (server < OLDEST_SERVER)
    throw new CinchError(
      "STORE_FAILED",
      `${database.place} is on PostgreSQL ${server / 10_000}. Version 14 or newer is needed.`,
    );
  if (encoding !== "UTF8")
    throw new CinchError(
      "STORE_FAILED",
      `${database.place} has the encoding ${encoding}. Create one with the encoding UTF8.`,
    );
  if (objects > 0 && !meta) throw foreign(database);
  return found;
}

async function formatOf(client: Transaction, database: Database): Promise<number> {
  const { rows: columns } = await client.query<{ name: string }>(
    `SELECT a.attname AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
       JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'meta' AND a.attnum > 0`,
    [database.schema],
  );
  const names = columns.map(({ name }) => name);
  if (!names.includes("program") || !names.includes("format")) throw foreign(database);
  const { rows } = await client.query<{ program: string; format: number }>(
    database.sql("SELECT program, format FROM cinch.meta"),
  );
  if (rows[0]?.program !== PROGRAM || !Number.isInteger(rows[0].format)) throw foreign(database);
  return rows[0].format;
}

const foreign = ({ place, schema }: Database): CinchError =>
  new CinchError(
    "CORRUPT",
    `The schema "${schema}" in ${place} has tables of another program. It was not changed. Give the name of another schema.`,
  );

const newerFormat = ({ place, schema }: Database, format: number): CinchError =>
  new CinchError(
    "STORE_NEWER",
    `The schema "${schema}" in ${place} was written by a newer release (its format is ${format}; this release knows ${FORMAT}). Update this program.`,
  );
