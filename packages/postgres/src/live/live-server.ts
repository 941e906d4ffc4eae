import { createHash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { CinchError, type LiveSource } from "@cinch/core";
import { formatAddress, listenHost, type LiveSettings } from "./live-options.ts";
import { LiveReaderConnection } from "./live-reader-connection.ts";

export const LIVE_PATH = "/cinch/live";
export const LIVE_PROTOCOL = "cinch-live-1";

/** A request that is not complete by then is cut. */
const REQUEST_MS = 5_000;
const MAX_CONNECTIONS = 1_000;

/** Where other processes read the threads that this one drives. */
export class LiveServer {
  readonly #source: LiveSource;
  readonly #settings: LiveSettings;
  readonly #server: Server;
  readonly #connections = new Set<LiveReaderConnection>();

  constructor(source: LiveSource, settings: LiveSettings) {
    this.#source = source;
    this.#settings = settings;
    const limits = { headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS, connectionsCheckingInterval: 1_000 };
    this.#server = createServer({ ...limits, maxHeaderSize: 8_192, keepAliveTimeout: 1 });
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.on("request", (_, response) => {
      response.writeHead(426, { connection: "close" }).end("This port is for other processes of Cinch.\n");
    });
    this.#server.on("upgrade", (request, socket, head) => this.#upgrade(request, { socket, head }));
    this.#server.on("clientError", (_, socket) => socket.destroy());
  }

  /** Returns its address. */
  async listen({ host, port }: { host: string; port: number }): Promise<string> {
    this.#server.listen({ port, host: listenHost(this.#settings) });
    try {
      await once(this.#server, "listening");
    } catch (error) {
      const message = `peerLive can't listen on port ${port}. Advertise another one, or { host, port: 0 } for a free one.`;
      throw new CinchError("INVALID_CONFIG", message, error);
    }
    this.#server.unref();
    return formatAddress({ host, port: (this.#server.address() as AddressInfo).port });
  }

  #upgrade(request: IncomingMessage, connected: { socket: Duplex; head: Buffer }): void {
    const { socket } = connected;
    socket.on("error", () => socket.destroy());
    const isKnown = request.url === LIVE_PATH && request.headers.upgrade === LIVE_PROTOCOL;
    if (!isKnown) return refuse(socket, "404 Not Found");
    if (!this.#isPeer(request.headers.authorization)) return refuse(socket, "401 Unauthorized");
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${LIVE_PROTOCOL}\r\n\r\n`);
    if ("unref" in socket && typeof socket.unref === "function") socket.unref();
    const connection = new LiveReaderConnection(this.#source, connected, () => this.#connections.delete(connection));
    this.#connections.add(connection);
  }

  #isPeer(authorization = ""): boolean {
    const { secret } = this.#settings;
    return secret === undefined || timingSafeEqual(digest(authorization), digest(`Bearer ${secret}`));
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const connection of this.#connections) connection.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

/** Closes both directions: a stranger that never closes its own would hold the connection, and the server could not close. */
function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`, () => socket.destroy());
}

/** Of the same length for any text, so that texts of any length can be compared. */
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
