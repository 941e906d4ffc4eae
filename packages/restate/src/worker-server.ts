import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import process from "node:process";
import { CinchError } from "@cinch/core";

/** The HTTP server of one worker. Those of one machine share the port, and the system spreads connections over them. */
export class WorkerServer {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async listening(handler: RequestListener, { port, host }: { port: number; host: string | undefined }) {
    // A drive may take days to answer.
    const server = createServer({ requestTimeout: 0, keepAliveTimeout: 60_000 }, handler);
    server.listen({ port, host, reusePort: process.platform === "linux" });
    try {
      await once(server, "listening");
    } catch (cause) {
      throw new CinchError(
        "INVALID_CONFIG",
        `restatePlacement can't listen on port ${port}: ${(cause as Error).message}. Choose a free one.`,
        cause,
      );
    }
    return new WorkerServer(server);
  }

  /** Takes no new connections, and closes each one as its request is answered. */
  drain(): void {
    if (!this.#server.listening) return;
    this.#server.prependListener("request", (_, response) => response.setHeader("connection", "close"));
    this.#server.close();
    this.#server.closeIdleConnections();
  }

  /** Cuts the requests that are still open. */
  close(): void {
    this.drain();
    this.#server.closeAllConnections();
  }
}
