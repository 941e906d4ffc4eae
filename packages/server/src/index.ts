/** A harness on HTTP: one table of routes, access by host, origin, token and role, and event streams without gaps. */
export { bearerTokens, tokenHash, type TokenHolder } from "./access/bearer-tokens.ts";
export { ROLES, type Authenticate, type MayRole, type Who } from "./access/who.ts";
export { createServer, type CinchServer } from "./create-server.ts";
export type { HttpErrorCode } from "./http/http-error.ts";
export type { ServerLimits } from "./limits.ts";
export type { LogLine, WriteLog } from "./observe/log-line.ts";
export type { Page, PageFile } from "./page.ts";
export { PROTOCOL } from "./protocol.ts";
export type { AdapterName, MayAnswer } from "./routes/route.ts";
export type { Mount, ServerOptions } from "./server-options.ts";
