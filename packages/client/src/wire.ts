import type { ThreadFile } from "@cinch/core";
import { CinchError, type ErrorCode } from "@cinch/core/remote";
import type { ListFeed } from "./list-feed.ts";
import { pause } from "./pause.ts";
import type { ServerInfo } from "./remote-session.ts";
import { objectOf } from "./wire-input.ts";

const PROTOCOL = "1";
/** A server sends a heartbeat every 15 s, and answers a request that waits after 25 s. */
export const DEAD_MS = 40_000;
const SLOW_BYTES_PER_MS = 32;
/** What is too large for a proxy, or for Node's own limits, stays too large. */
const TOO_LARGE = [413, 414, 431];
/** With these a proxy refuses one request, for what is in it or for who sends it, and would again. */
const REFUSED = [400, 401, 403, 405, 406, 407, 415, 422, 451];

export type ConnectionState = "online" | "offline";

export interface ConnectOptions {
  /** Where the server is, with the prefix below which it is mounted. */
  url: string | URL;
  /**
   * A function is called for the first request, and again when the server refuses what it returned. If it fails, that counts as a server
   * that can't be reached: the request is tried again.
   */
  token?: string | (() => string | Promise<string>);
  /** Default: the global one. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

export interface WireRequest {
  method?: "GET" | "POST" | "DELETE";
  /** After `/v1`. */
  path: string;
  query?: Record<string, unknown>;
  body?: unknown;
  /** The same for each try, so that the server does it once. */
  key?: string;
  accept?: string;
  /** When it is aborted, the request rejects with its reason. */
  signal?: AbortSignal | undefined;
  /** In how many milliseconds something must come; default 40,000. */
  firstByteMs?: number;
  /** Nothing came in time. */
  late?(): void;
}

/** Calls `alive` for each sign of life, and then has another 40 s. */
type ReadAnswer<T> = (response: Response, alive: () => void) => Promise<T>;

export interface WireAnswer<T> {
  value: T;
  status: number;
  /** How far the thread was then. */
  seq: number;
}

/** The connection to one server: access, errors, and requests that are repeated until they are answered. */
export class Wire {
  readonly #base: string;
  readonly #fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly #given: ConnectOptions["token"];
  readonly #closing = new AbortController();
  readonly watchers = new Set<(state: ConnectionState) => void>();
  connection: ConnectionState = "online";
  /** Streams of threads bring the list of threads, too. */
  lists!: ListFeed;
  #token: Promise<string> | undefined;
  info: ServerInfo | undefined;
  #ready: Promise<ServerInfo> | undefined;
  /** Before the first answer, a failure is more likely a wrong address than a server that restarts. */
  #wasReached = false;
  /** A Cinch server has answered at the address, so other answers are those of something in between. */
  #isServer = false;

  constructor(options: ConnectOptions) {
    const { url, token, fetch: given } = objectOf(options, ["url", "token", "fetch"], "INVALID_CONFIG");
    this.#base = `${String(url).replace(/\/+$/, "")}/v1`;
    this.#fetch = given ?? ((input, init) => fetch(input, init));
    this.#given = token;
  }

  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  /** What is pending rejects with `CLOSED`. */
  close(): void {
    this.#closing.abort();
  }

  /** What the server says of itself and of this caller. */
  init(): Promise<ServerInfo> {
    return (this.#ready ??= this.get<ServerInfo>("").then(
      (info) => (this.info = info),
      (error: unknown) => {
        this.#ready = undefined;
        throw error;
      },
    ));
  }

  /** Sends a request until the server has answered it. Rejects with the error of the server. */
  call<T>(request: WireRequest): Promise<WireAnswer<T>> {
    return this.repeated(request, answerOf<T>);
  }

  async get<T>(path: string, query: object = {}): Promise<T> {
    return (await this.call<T>({ path, query: { ...query } })).value;
  }

  async repeated<T>(request: WireRequest, read: ReadAnswer<T>): Promise<T> {
    const encoded = { ...request, body: encodedBody(request.body) };
    for (let tries = 0; ; tries++) {
      try {
        return await this.attempt({ ...encoded, firstByteMs: DEAD_MS + uploadMs(encoded.body, tries) }, read);
      } catch (error) {
        // An earlier try has deleted it.
        if (tries && request.method === "DELETE" && isOf(error, "THREAD_NOT_FOUND")) return undefined as T;
        if (request.signal?.aborted || !mayRetry(error)) throw error;
      }
      await pause(tries, [this.closed, request.signal]);
    }
  }

  /** Sends a request once. `read` belongs to it: an answer that is cut off is none. */
  async attempt<T>(request: WireRequest, read: ReadAnswer<T>): Promise<T> {
    const { signal, firstByteMs = DEAD_MS } = request;
    const over = new AbortController();
    const end = () => over.abort();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const endAfter = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        request.late?.();
        end();
      }, ms);
    };
    endAfter(firstByteMs);
    const cut = aborted(over.signal);
    for (const one of [this.closed, signal]) {
      if (one?.aborted) end();
      one?.addEventListener("abort", end, { signal: over.signal });
    }
    const answered = async () => read(await this.#authorised(request, over.signal), () => endAfter(DEAD_MS));
    try {
      return await Promise.race([answered(), cut]);
    } catch (error) {
      if (this.closed.aborted) throw closedClient();
      signal?.throwIfAborted();
      const isAnswer = error instanceof CinchError;
      if (!isAnswer && !over.signal.aborted) this.#became("offline");
      if (isAnswer || this.#wasReached) throw error;
      throw unreachable(
        `No Cinch server answers at ${this.#base}. Check the address, and whether it is running.`,
        error,
      );
    } finally {
      clearTimeout(timer);
      // Lets go of what was not read, and of the listeners.
      end();
    }
  }

  async #authorised(request: WireRequest, signal: AbortSignal): Promise<Response> {
    for (let isSecond = false; ; isSecond = true) {
      const used = (this.#token ??= this.#newToken());
      const forget = () => {
        // Another request that failed with the same token may have asked for a new one already.
        if (this.#token === used) this.#token = undefined;
      };
      used.catch(forget);
      const response = await this.#sent(request, { token: await used, signal });
      if (response.ok) return response;
      const error = await errorOf(response);
      if (response.status !== 401) throw error;
      forget();
      if (typeof this.#given !== "function") throw error;
      passing.add(error);
      if (isSecond) throw error;
    }
  }

  async #newToken(): Promise<string> {
    try {
      return (await (typeof this.#given === "function" ? this.#given() : this.#given)) ?? "";
    } catch (error) {
      if (this.#wasReached) throw error;
      throw unreachable(`The function \`token\` of connect() failed: ${String(error)}`, error);
    }
  }

  #became(state: ConnectionState): void {
    if (this.connection === state) return;
    this.connection = state;
    for (const watcher of this.watchers) watcher(state);
  }

  async #sent(
    { method = "GET", path, query = {}, body, key, accept }: WireRequest,
    { token, signal }: { token: string; signal: AbortSignal },
  ) {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const search = String(new URLSearchParams(given as [string, string][]));
    const response = await this.#fetch(`${this.#base}${path}${search && `?${search}`}`, {
      method,
      signal,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(key && { "idempotency-key": key }),
        ...(accept && { accept }),
        ...(typeof body === "string" && { "content-type": "application/json" }),
      },
      body: body as BodyInit,
    });
    const version = response.headers.get("cinch-protocol");
    const { status } = response;
    if (version === null && TOO_LARGE.includes(status)) throw tooLarge(status);
    this.#isServer ||= version === PROTOCOL;
    const isProxy = version === null && this.#isServer;
    const isRefused = isProxy && REFUSED.includes(status);
    // What a proxy refuses of a command says nothing of other requests. Without its stream, what is shown gets old.
    if (!isRefused || accept) this.#became(version === null ? "offline" : "online");
    // A proxy in between answers for the server, and not for long: with a page of its own, or a limit.
    if (isProxy && !isRefused) throw new TypeError(`A proxy answered ${status}.`);
    if (isRefused || version === PROTOCOL || (version === null && status >= 500)) {
      this.#wasReached = true;
      return response;
    }
    const problem =
      version === null
        ? "is no Cinch server. Check the address, and the prefix below which the server is mounted."
        : `speaks protocol ${version}, and this client ${PROTOCOL}. Use versions that belong together.`;
    throw new CinchError("INVALID_CONFIG", `The server at ${this.#base} ${problem}`);
  }
}

/**
 * How long files may take to be sent. `fetch` does not say how much it has sent, so silence is what takes longer than a slow line would.
 * Each try has longer, because the line may be slower still.
 */
function uploadMs(body: unknown, tries: number): number {
  if (!(body instanceof FormData)) return 0;
  let bytes = 0;
  for (const part of body.values()) bytes += typeof part === "string" ? part.length : part.size;
  return (bytes / SLOW_BYTES_PER_MS) * 2 ** Math.min(tries, 4);
}

function encodedBody(body: unknown): unknown {
  if (body instanceof FormData) return body;
  try {
    return JSON.stringify(body, isJson);
  } catch (error) {
    throw new CinchError("INVALID_INPUT", `Only JSON can be sent: ${String(error)}`, error);
  }
}

/** Rejects when the signal is aborted: a function that the caller gave need not obey it. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));

function tooLarge(status: number): CinchError {
  const problem =
    status === 413 ? "body is too large. Send less" : "address or headers are too large. Use a shorter query or token";
  return new CinchError("TOO_LARGE" as ErrorCode, `A proxy or the server answered ${status}: the ${problem}.`);
}

const unreachable = (message: string, cause: unknown): CinchError =>
  new CinchError("UNREACHABLE" as ErrorCode, message, cause);

/** Without this, a number that has no JSON would become `null`. */
function isJson(key: string, value: unknown): unknown {
  if (typeof value !== "number" || Number.isFinite(value)) return value;
  throw new TypeError(`"${key}" is ${value}.`);
}

export const closedClient = (): CinchError =>
  new CinchError("CLOSED", "The client or its session is closed. What the server has accepted continues there.");

/** Errors of requests that may succeed later. */
const temporary = new WeakSet<object>();
/**
 * Errors that may pass, of a server that fails, of a proxy that refuses, or of a token that its function has not replaced yet. A command
 * rejects with them; a stream that was connected is tried again.
 */
const passing = new WeakSet<object>();

export const isOf = (error: unknown, code: string): boolean =>
  error instanceof CinchError && (error.code as string) === code;

/** The same request may succeed later. `wasDone`: it has succeeded before. */
export const mayRetry = (error: unknown, wasDone?: boolean): boolean =>
  !(error instanceof CinchError) || temporary.has(error) || (!!wasDone && passing.has(error));

async function errorOf(response: Response): Promise<CinchError> {
  const { status } = response;
  // Throws if it breaks off: then nothing is known, and the request is repeated.
  const text = await response.text();
  if (status < 500 && !response.headers.has("cinch-protocol")) {
    const refused = new CinchError(
      "PROXY_REFUSED" as ErrorCode,
      `A proxy answered ${status}, and the server got nothing. Sign in at the proxy (401, 407), change what is sent, or have the proxy allow it.`,
    );
    passing.add(refused);
    return refused;
  }
  const error = errorIn(text);
  const made = new CinchError(error?.code ?? "INTERNAL", error?.message ?? `The server answered ${status}.`);
  // From 520 on, a proxy such as Cloudflare says that it does not reach the server.
  if ([408, 429, 502, 503, 504].includes(status) || status >= 520) temporary.add(made);
  else if (status >= 500) passing.add(made);
  return made;
}

/** Of an answer that a proxy has written: none. */
function errorIn(text: string): { code: ErrorCode; message: string } | undefined {
  try {
    return JSON.parse(text).error;
  } catch {
    return undefined;
  }
}

/** The answer, when all of it is there. What arrives of it is a sign of life, where `fetch` shows that. */
export async function wholeOf(response: Response, alive: () => void): Promise<Pick<Response, "text" | "arrayBuffer">> {
  if (!response.body) return response;
  const chunks: Uint8Array[] = [];
  let length = 0;
  await eachChunk(response.body, (chunk) => {
    alive();
    chunks.push(chunk);
    length += chunk.length;
  });
  const bytes = new Uint8Array(length);
  length = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, length);
    length += chunk.length;
  }
  // Not a Blob: in React Native it can't be made of bytes.
  return { text: async () => new TextDecoder().decode(bytes), arrayBuffer: async () => bytes.buffer };
}

export async function eachChunk(
  body: NonNullable<Response["body"]>,
  take: (chunk: Uint8Array<ArrayBuffer>) => void,
): Promise<void> {
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    take(value);
  }
}

export async function answerOf<T>(response: Response, alive: () => void): Promise<WireAnswer<T>> {
  const { status, headers } = response;
  const text = await (await wholeOf(response, alive)).text();
  const value = (text ? JSON.parse(text) : undefined) as T;
  return { value, status, seq: Number(headers.get("cinch-seq")) };
}

/** `null`: the thread has no such file. */
export async function readThreadFile(wire: Wire, request: WireRequest): Promise<ThreadFile | null> {
  try {
    return await wire.repeated(request, async (response, alive) => {
      const { headers } = response;
      const [, filename = null] = /filename\*=UTF-8''(.*)/.exec(headers.get("content-disposition") ?? "") ?? [];
      return {
        bytes: new Uint8Array(await (await wholeOf(response, alive)).arrayBuffer()),
        mediaType: headers.get("content-type") ?? "",
        filename: filename && decodeURIComponent(filename),
      };
    });
  } catch (error) {
    if (isOf(error, "NOT_FOUND")) return null;
    throw error;
  }
}
