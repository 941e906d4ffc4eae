/** The store for many processes, with threads in a PostgreSQL database, and a placement that needs nothing but that database. */
export type { PostgresOptions } from "./options.ts";
export { graphilePlacement, type GraphileOptions } from "./placement/graphile-placement.ts";
export { postgresStore } from "./store.ts";
