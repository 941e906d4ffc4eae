/** The store for many processes: threads in a PostgreSQL database. */
export type { PostgresOptions } from "./options.ts";
export { postgresStore } from "./store.ts";
