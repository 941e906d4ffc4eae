import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

const MAX_SOCKETS = 32;

/** Posts JSON over connections that stay open. */
export class JsonPoster {
  readonly #agents = {
    "http:": new HttpAgent({ keepAlive: true, maxSockets: MAX_SOCKETS }),
    "https:": new HttpsAgent({ keepAlive: true, maxSockets: MAX_SOCKETS }),
  };

  /** The status of the answer. Rejects if there is none in time. A server may get the body twice. */
  post(url: URL, body: unknown, { timeoutMs }: { timeoutMs: number }): Promise<number> {
    return this.#post(url, body, AbortSignal.timeout(timeoutMs));
  }

  #post(url: URL, body: unknown, signal: AbortSignal): Promise<number> {
    const protocol = url.protocol as "http:" | "https:";
    const request = protocol === "https:" ? httpsRequest : httpRequest;
    const text = JSON.stringify(body);
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const sent = request(url, {
      method: "POST",
      agent: this.#agents[protocol],
      headers: { "content-type": "application/json", "content-length": Buffer.byteLength(text) },
      signal,
    });
    sent.on("error", (error) => {
      // The server may have closed an idle connection just before it was used again.
      if (sent.reusedSocket && !signal.aborted) resolve(this.#post(url, body, signal));
      else reject(error);
    });
    sent.on("response", (response) => {
      response.on("error", reject);
      response.on("end", () => resolve(response.statusCode ?? 0));
      response.resume();
    });
    sent.end(text);
    return promise;
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }
}
