import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { Agent, Harness, memoryStore, type HarnessConfig, type ThreadRecord, type ToolSet } from "@cinch/core";
import type { ScriptedModel } from "@cinch/testkit";
import {
  bearerTokens,
  createServer,
  ROLES,
  tokenHash,
  type CinchServer,
  type ServerOptions,
  type TokenHolder,
} from "@cinch/server";

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

type Options = Omit<ServerOptions, "harness"> & {
  model: ScriptedModel;
  tools?: ToolSet;
  harness?: Partial<HarnessConfig>;
  /** For a test that listens there again: one of `freePort`. Otherwise any. */
  port?: number;
};

/** A server that listens on loopback, with a harness of its own. Both are closed at the end of the test. */
export async function serving({ model, tools = {}, harness: config, port: wanted = 0, ...options }: Options) {
  const agent = new Agent({ name: "tester", model, instructions: "SECRET INSTRUCTIONS", tools });
  const harness = new Harness({
    id: "test",
    agent,
    storage: memoryStore(),
    permissions: [{ category: "other", policy: "allow" }],
    ...config,
  });
  await harness.init();
  const server = createServer({ harness, adapters: ["ai-sdk", "ag-ui"], ...options });
  const { url, port } = await server.listen({ port: wanted });
  const at = new Remote(port);
  return {
    harness,
    server,
    url,
    port,
    at,
    [Symbol.asyncDispose]: async () => {
      await server.close({ drainMs: 100 });
      await harness.close();
    },
  };
}

/** Sends requests exactly as a test says, also with headers that `fetch` sets itself. */
export class Remote {
  readonly #port: number;
  readonly #headers: Record<string, string>;

  constructor(port: number, headers: Record<string, string> = {}) {
    this.#port = port;
    this.#headers = headers;
  }

  with(headers: Record<string, string>): Remote {
    return new Remote(this.#port, { ...this.#headers, ...headers });
  }

  as(token: string): Remote {
    return this.with({ authorization: `Bearer ${token}` });
  }

  send(method: string, path: string, body?: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const headers = {
        ...this.#headers,
        ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }),
      };
      const sent = httpRequest({ port: this.#port, method, path, headers, agent: false }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => (text += chunk));
        response.on("error", reject);
        response.on("end", () => resolve({ status: response.statusCode!, headers: response.headers, text }));
      });
      sent.on("error", reject);
      sent.end(body);
    });
  }

  get(path: string): Promise<Answer> {
    return this.send("GET", path);
  }

  post(path: string, body: unknown = {}): Promise<Answer> {
    return this.with({ "content-type": "application/json" }).send("POST", path, JSON.stringify(body));
  }

  async json<T>(path: string): Promise<T> {
    const { status, text } = await this.get(path);
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    return JSON.parse(text) as T;
  }

  async thread(options: { id?: string; title?: string } = {}): Promise<ThreadRecord> {
    const { status, text } = await this.post("/v1/threads", options);
    if (status !== 201) throw new Error(`${status} ${text}`);
    return JSON.parse(text) as ThreadRecord;
  }
}

export const errorOf = ({ text }: Pick<Answer, "text">): { code: string; message: string; field?: string } =>
  (JSON.parse(text) as { error: { code: string; message: string; field?: string } }).error;

/** Ann may do everything, Bob may only read, Cat has threads of her own. */
export const people: TokenHolder[] = [
  { sha256: tokenHash("ann-token"), resourceId: "team", by: "ann", may: ROLES },
  { sha256: tokenHash("bob-token"), resourceId: "team", by: "bob", may: ["read"] },
  { sha256: tokenHash("cat-token"), resourceId: "cats", by: "cat", may: ROLES },
];
export const authenticate = bearerTokens(() => people);
export type { CinchServer };
