/** The embedded store: threads in one SQLite file, safe with several processes. The main thread reads, a worker thread writes. */
export type { SqliteOptions } from "./options.ts";
export { sqliteStore } from "./store.ts";
