/** The store for many processes, with threads in a PostgreSQL database, a placement that needs nothing but that database, and the link between processes. */
export type { PeerLiveOptions } from "./live/live-options.ts";
export { peerLive } from "./live/peer-live.ts";
export type { PostgresOptions } from "./options.ts";
export { graphilePlacement, type GraphileOptions } from "./placement/graphile-placement.ts";
export { postgresStore } from "./store.ts";
