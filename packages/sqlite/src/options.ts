import { checkKeys, CinchError } from "@cinch/core";

export interface SqliteOptions {
  /** The database file. It and its folders are made if they are not there. */
  path: string;
  /** How long to wait for another program that has the file locked, before `STORE_BUSY`. Default 30 s. */
  busyMs?: number;
  /** How often a driver shows that it is alive. Default 1 s. */
  renewMs?: number;
  /** How long a driver on another machine, or a stopped one, must have shown no life before it may be replaced. Default 5 s. */
  periodMs?: number;
  /** How long after the last write the search index is brought up to date. Default 200 ms. */
  indexMs?: number;
}

const DEFAULTS = { busyMs: 30_000, renewMs: 1000, periodMs: 5000, indexMs: 200 };
const TIMES = Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[];

/** The options with what was left out. Throws `INVALID_CONFIG`. */
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
      throw wrong(`takes milliseconds as ${key}, from 0.`);
    all[key] = ms;
  }
  return all;
}

const wrong = (what: string): CinchError => new CinchError("INVALID_CONFIG", `sqliteStore ${what}`);
