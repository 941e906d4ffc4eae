import { checkKeys, CinchError, type Harness } from "@cinch/core";
import { isHost } from "./access/site-check.ts";
import type { Authenticate } from "./access/who.ts";
import type { ServerLimits } from "./limits.ts";
import { ADAPTERS, type AdapterName, type MayAnswer } from "./routes/route.ts";
import type { WriteLog } from "./observe/log-line.ts";
import type { Page } from "./page.ts";

export interface ServerOptions {
  /** It stays open when the server closes. */
  harness: Harness;
  /** Names the caller of a request. Without it every caller may do everything, and only loopback is listened on. */
  authenticate?: Authenticate;
  /** May narrow who answers an approval. */
  mayAnswer?: MayAnswer;
  /** The names under which callers reach the server, such as `cinch.example.com`; default: loopback, and the address it listens on. */
  hosts?: readonly string[];
  /** Pages of other origins that may call the server, such as `https://app.example.com`. */
  origins?: readonly string[];
  limits?: Partial<ServerLimits>;
  /** The ids of models that callers are offered. */
  models?: readonly string[];
  /** Other protocols that the server speaks: "ai-sdk" (`useChat`), "ag-ui"; default: none. */
  adapters?: readonly AdapterName[];
  /** Gets a line for each request, and two for each stream; default: failures of the server are printed to stderr. */
  log?: WriteLog;
  /** A web page that is served at `/`, such as `webPage` of `@cinch/web`. A function is called when a browser first asks for it. */
  page?: Page | (() => Promise<Page>);
  /** Handlers of paths that begin with a name: `{ tour: (request) => … }` answers `/tour` and all below it, and checks access itself. */
  mounts?: Readonly<Record<string, Mount>>;
}

/** Answers a request, as `fetch` of another server does. */
export type Mount = (request: Request) => Promise<Response>;

const KEYS = [
  "harness",
  "authenticate",
  "mayAnswer",
  "hosts",
  "origins",
  "limits",
  "models",
  "adapters",
  "log",
  "page",
  "mounts",
];

const FUNCTIONS = ["authenticate", "mayAnswer", "log"] as const;
const LISTS = ["hosts", "origins", "models", "adapters"] as const;

/** Throws `INVALID_CONFIG`. */
export function checkOptions(options: ServerOptions): void {
  checkKeys("createServer", options, KEYS);
  if (typeof options.harness?.createSession !== "function")
    throw new CinchError("INVALID_CONFIG", "createServer: harness must be a Harness.");
  for (const name of FUNCTIONS)
    if (options[name] !== undefined && typeof options[name] !== "function")
      throw new CinchError("INVALID_CONFIG", `createServer: ${name} must be a function.`);
  for (const name of LISTS)
    if (options[name] !== undefined && !Array.isArray(options[name]))
      throw new CinchError("INVALID_CONFIG", `createServer: ${name} must be a list.`);
  for (const adapter of options.adapters ?? []) {
    if (!ADAPTERS.includes(adapter))
      throw new CinchError("INVALID_CONFIG", `createServer: "${adapter}" is no adapter: use ${ADAPTERS.join(", ")}.`);
  }
  for (const name of Object.keys(options.mounts ?? {})) {
    if (!/^[a-z][\w-]*$/.test(name) || name === "v1")
      throw new CinchError("INVALID_CONFIG", `createServer: "${name}" can't be mounted: use a name like "tour".`);
  }
  for (const host of options.hosts ?? []) {
    if (!isHost(host))
      throw new CinchError("INVALID_CONFIG", `createServer: "${host}" is not a host like cinch.example.com.`);
  }
  for (const origin of options.origins ?? []) {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin)
      throw new CinchError(
        "INVALID_CONFIG",
        `createServer: "${origin}" is not an origin like https://app.example.com.`,
      );
  }
}
