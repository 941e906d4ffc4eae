import { Client } from "pg";
import { checkKeys, CinchError } from "@cinch/core";

export interface PostgresOptions {
  /** Where the database is: `postgres://user:password@host:5432/database`. It may lead to a pooler. */
  url: string;
  /** Leads to the server past a pooler, for the one connection that receives notices and shows that the process lives. Default: `url`. */
  directUrl?: string;
  /** The schema that has the tables. It is created if it does not exist. Default "cinch". */
  schema?: string;
}

const KEYS = ["url", "directUrl", "schema"];
/** A longer name would be cut by the server. */
const MAX_SCHEMA_CHARS = 63;

/** Throws `INVALID_CONFIG`. */
export function withDefaultSchema(what: string, options: PostgresOptions): Required<PostgresOptions> {
  const wrong = (why: string) => new CinchError("INVALID_CONFIG", `${what} ${why}`);
  if (typeof options === "string") throw wrong(`takes an object: ${what}({ url }).`);
  checkKeys(what, options, KEYS);
  const { url, directUrl = url, schema = "cinch" } = options;
  for (const [name, value] of Object.entries({ url, directUrl }))
    if (typeof value !== "string" || !/^postgres(ql)?:\/\//.test(value) || !URL.canParse(value) || !isDecodable(value))
      throw wrong(`needs a URL as ${name}, such as "postgres://user:password@localhost:5432/database".`);
  for (const [name, value] of Object.entries({ url, directUrl })) {
    const reason = whyUnusable(value);
    if (reason) throw wrong(`can't use ${name}: ${reason}.`);
  }
  if (typeof schema !== "string" || !isSchemaName(schema))
    throw wrong(`takes as schema up to ${MAX_SCHEMA_CHARS} letters, digits, "_" and "-", not beginning with "pg_".`);
  return { url, directUrl, schema };
}

/** A "%" in the name of the database stands in a URL as "%25". */
function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(new URL(url).pathname);
    return true;
  } catch {
    return false;
  }
}

/** Reads the certificates that the URL names. */
const clientFor = (connectionString: string): Client => new Client({ connectionString });

function whyUnusable(url: string): string | undefined {
  try {
    clientFor(url);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const isSchemaName = (name: string): boolean =>
  /^[A-Za-z0-9_-]+$/.test(name) && !name.startsWith("pg_") && name.length <= MAX_SCHEMA_CHARS;
