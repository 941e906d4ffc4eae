import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Seeded } from "./seeded.ts";

export interface FaultProxyOptions {
  /** The port to forward to. It is asked for each request, so a client can be moved between servers. */
  target: () => number;
  random: Seeded;
  /** How likely one fault is for one request, from 0 to 1. */
  share?: number;
}

/** What happened to requests, by kind of fault. */
export type FaultCounts = Record<Fault, number>;

const FAULTS = ["lost", "unanswered", "cut", "halved", "stalled", "repeated", "late"] as const;
type Fault = (typeof FAULTS)[number];

interface Forwarded {
  request: IncomingMessage;
  body: Buffer;
  port: number;
}

const HOP_BY_HOP = new Set(["connection", "keep-alive", "transfer-encoding"]);

/**
 * A network that misbehaves between a client and a server:
 * - `lost`: the request does not arrive.
 * - `unanswered`: the server gets the request, the client no answer.
 * - `cut`, `halved`: the connection ends in an answer, between two chunks or in the middle of one.
 * - `stalled`: an answer pauses.
 * - `repeated`: a server gets the request, and the same or another one gets it again.
 * - `late`: a request arrives after ones that were sent after it.
 */
export class FaultProxy implements AsyncDisposable {
  readonly counts: FaultCounts = { lost: 0, unanswered: 0, cut: 0, halved: 0, stalled: 0, repeated: 0, late: 0 };
  readonly #options: FaultProxyOptions;
  readonly #server: Server;
  #isCalm = true;

  private constructor(options: FaultProxyOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      this.#forward(request, response).catch(() => response.destroy());
    });
  }

  static async start(options: FaultProxyOptions): Promise<FaultProxy> {
    const proxy = new FaultProxy(options);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** From now on, things go wrong. */
  storm(): void {
    this.#isCalm = false;
  }

  /** From now on, nothing goes wrong. */
  calm(): void {
    this.#isCalm = true;
  }

  /** Ends every connection, as a network that is gone. */
  cutAll(): void {
    this.#server.closeAllConnections();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cutAll();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #fault(): Fault | null {
    const { random, share = 0.4 } = this.#options;
    if (this.#isCalm || !random.chance(share)) return null;
    const fault = random.pick(FAULTS);
    this.counts[fault]++;
    return fault;
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { random } = this.#options;
    const body = await bodyOf(request);
    const fault = this.#fault();
    if (fault === "lost") return void response.destroy();
    if (fault === "late") await sleep(random.below(60));
    const port = this.#options.target();
    if (fault === "repeated") this.#sendAgain({ request, body, port: this.#options.target() }, random.below(40));
    const answer = await this.#send({ request, body, port }, response);
    if (fault === "unanswered") {
      answer.destroy();
      response.destroy();
      return;
    }
    await this.#copy(answer, response, fault);
  }

  #send({ request, body, port }: Forwarded, response?: ServerResponse): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers = { ...request.headers, host: `127.0.0.1:${port}` };
      const { method, url } = request;
      const sent = httpRequest({
        port,
        host: "127.0.0.1",
        method,
        path: url,
        headers,
        agent: false,
      });
      sent.on("response", resolve).on("error", reject);
      response?.on("close", () => sent.destroy());
      sent.end(body);
    });
  }

  /** The server's second answer goes nowhere. */
  #sendAgain(forwarded: Forwarded, delayMs: number): void {
    const again = async () => {
      await sleep(delayMs);
      const answer = await this.#send(forwarded);
      setTimeout(() => answer.destroy(), 50);
      answer.on("error", () => {}).resume();
    };
    // The server may be gone by then.
    again().catch(() => {});
  }

  async #copy(answer: IncomingMessage, response: ServerResponse, fault: Fault | null): Promise<void> {
    const { random } = this.#options;
    const headers = Object.entries(answer.headers).filter(([name]) => !HOP_BY_HOP.has(name));
    response.writeHead(answer.statusCode ?? 502, Object.fromEntries(headers) as Record<string, string>);
    response.flushHeaders();
    // Streams have many chunks, and other answers one.
    let left = random.below(random.chance(0.5) ? 2 : 12);
    try {
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        if (fault === "halved" && left === 0) response.write(chunk.subarray(0, Math.ceil(chunk.length / 2)));
        const isCut = fault === "cut" || fault === "halved";
        if (isCut && left-- <= 0) return void setImmediate(() => response.destroy());
        if (fault === "stalled" && left-- === 0) await sleep(random.below(200));
        if (!response.write(chunk)) await drained(response);
      }
      response.end();
    } catch {
      response.destroy();
    }
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    response.once("drain", resolve);
    response.once("close", resolve);
  });
