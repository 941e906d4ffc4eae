/** The embedded store: threads in one SQLite file, safe with several processes. The main thread reads, a worker thread writes. */
export { sqliteStore, type SqliteOptions } from "./store.ts";
