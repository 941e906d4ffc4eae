/** The embedded store: threads in one SQLite file that several processes may share. The main thread reads, a worker thread writes. */
export type { SqliteOptions } from "./options.ts";
export { sqliteStore } from "./store.ts";
