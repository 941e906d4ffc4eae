import { checkKeys, CinchError } from "@cinch/core";

export interface SqliteOptions {
  /** The database file. It and its folders are created if they do not exist. */
  path: string;
  /** How long to wait while another program has the file locked, before `STORE_BUSY`. Default 30 s. */
  busyMs?: number;
  /** How often a driver renews its leases. Default 1 s. */
  renewMs?: number;
  /** After how long without a renewal a driver on another machine, or a stopped one, may be replaced. Default 5 s. */
  periodMs?: number;
  /** How long after the last write the search index is updated. Default 200 ms. Under steady load it is updated after about 5 s. */
  indexMs?: number;
}

const DEFAULTS = { busyMs: 30_000, renewMs: 1000, periodMs: 5000, indexMs: 200 };
const TIMES = Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[];

/** Throws `INVALID_CONFIG`. */
export function withDefaults(options: SqliteOptions): Required<SqliteOptions> {
  if (typeof options === "string") throw wrong(`takes an object: sqliteStore({ path: ${JSON.stringify(options)} }).`);
  checkKeys("sqliteStore", options, ["path", ...TIMES]);
  const { path } = options;
  if (typeof path !== "string" || path === "" || path.includes("\0"))
    throw wrong(`needs the path of a file: sqliteStore({ path: ".cinch/cinch.db" }).`);
  const all = { ...DEFAULTS, path };
  for (const key of TIMES) {
    const ms: unknown = options[key];
    if (ms === undefined) continue;
    if (typeof ms !== "number" || !(ms >= 0) || !Number.isFinite(ms))
      throw wrong(`takes milliseconds as ${key}: a finite number from 0.`);
    all[key] = ms;
  }
  return all;
}

const wrong = (what: string): CinchError => new CinchError("INVALID_CONFIG", `sqliteStore ${what}`);
