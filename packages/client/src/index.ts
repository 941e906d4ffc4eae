/** The threads of a server, as sessions that behave like those of the harness itself. Needs only `fetch`, streams and timers. */
export { CinchError } from "@cinch/core/remote";
export { Client, connect } from "./connect.ts";
export { RemoteSession, type RemoteMode, type ServerInfo, type SessionFace } from "./remote-session.ts";
export type { AsyncMethod, ErrorCodeOf, RequestErrorCode, SessionErrors } from "./session-errors.ts";
export type { ThreadSettings } from "./remote-thread.ts";
export type { ConnectionState, ConnectOptions } from "./wire.ts";
