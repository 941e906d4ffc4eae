import type { Place } from "../cli.ts";

/** `cinch serve` in a process of its own, and requests to it. */
export class Served {
  readonly url: string;
  readonly running: ReturnType<Place["start"]>;
  readonly #headers: Record<string, string>;

  private constructor(running: ReturnType<Place["start"]>, url: string, token: string) {
    this.running = running;
    this.url = url;
    this.#headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  }

  /** `token`: one that the server knows. Without it, the printed one is used. */
  static async start(
    place: Place,
    {
      args = ["--port", "0"],
      env = {},
      token,
    }: { args?: readonly string[]; env?: Record<string, string>; token?: string } = {},
  ): Promise<Served> {
    const running = place.start(["serve", "--model", "offline", ...args], { env });
    await running.prints(/^http.*\n/, "stdout");
    const [, url = "", printed] = /^(http:\/\/\S+?)\/(?:#token=(\S+))?\n/.exec(running.stdout)!;
    return new Served(running, url, token ?? printed ?? "");
  }

  as(token: string): Served {
    return new Served(this.running, this.url, token);
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(this.url + path, { headers: { ...this.#headers, ...headers } });
  }

  post(path: string, body: unknown = {}): Promise<Response> {
    return fetch(this.url + path, { method: "POST", headers: this.#headers, body: JSON.stringify(body) });
  }

  delete(path: string): Promise<Response> {
    return fetch(this.url + path, { method: "DELETE", headers: this.#headers });
  }

  async thread(): Promise<string> {
    return ((await (await this.post("/v1/threads")).json()) as { id: string }).id;
  }

  async say(threadId: string, content: string): Promise<void> {
    await this.post(`/v1/threads/${threadId}/post`, { content, delivery: "send" });
  }
}

/** The text of a stream as it comes. */
export class StreamText {
  text = "";
  /** Settles when the stream has ended. */
  readonly ended: Promise<void>;
  #changed = Promise.withResolvers<void>();

  constructor(response: Response) {
    this.ended = this.#read(response);
    // A server that is killed at the end of a test cuts it.
    this.ended.catch(() => undefined);
  }

  async until(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.text)) await this.#changed.promise;
  }

  async #read(response: Response): Promise<void> {
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      this.text += part;
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
    }
  }
}
