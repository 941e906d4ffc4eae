import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** What happens to a connection when the server's answer to a query comes, or when a query is sent. */
type Cut = "before" | "after";

/** The answers of queries with a text, which are kept from the client. */
class HeldAnswers implements Disposable {
  readonly text: string;
  readonly #first = Promise.withResolvers<void>();
  readonly #chunks: { client: Socket; chunk: Buffer }[] = [];
  #isOver = false;

  constructor(text: string) {
    this.text = text;
  }

  /** Settles when the first of them is complete. */
  get answered(): Promise<void> {
    return this.#first.promise;
  }

  holds(query: Buffer): boolean {
    return !this.#isOver && query.includes(this.text);
  }

  add(client: Socket, chunk: Buffer, { isLast }: { isLast: boolean }): void {
    this.#chunks.push({ client, chunk });
    if (isLast) this.#first.resolve();
    if (this.#isOver) this.release();
  }

  /** Passes on what has come so far. */
  release(): void {
    for (const { client, chunk } of this.#chunks.splice(0)) client.write(chunk);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.release();
  }
}

/** A TCP proxy before the server, which can lose connections. */
export class Proxy implements AsyncDisposable {
  readonly url: string;
  readonly #server;
  readonly #sockets = new Set<Socket>();
  #cut: { when: Cut; text: string } | undefined;
  #freeze: string | undefined;
  #held: HeldAnswers | undefined;
  #isFrozen = false;
  #isDown = false;
  /** Whether notices are lost on their way to the client. */
  isMute = false;
  cuts = 0;
  /** How many connections were made. */
  connections = 0;
  /** How many queries were answered. */
  answers = 0;

  private constructor(server: ReturnType<typeof createServer>, to: URL) {
    this.#server = server;
    const url = new URL(to);
    url.port = String((server.address() as AddressInfo).port);
    this.url = url.href;
    server.on("connection", (client: Socket) => this.#connected(client, to));
  }

  static async to(url: string): Promise<Proxy> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Proxy(server, new URL(url));
  }

  /** Loses the next connection that sends a query with this text: before the query reaches the server, or after it was answered. */
  cutNext(when: Cut, text: string): void {
    this.#cut = { when, text };
  }

  /** Loses all connections, and refuses new ones until `up`. */
  down(): void {
    this.#isDown = true;
    this.dropAll();
  }

  up(): void {
    this.#isDown = false;
  }

  /** Forwards nothing, without closing anything. */
  freeze(): void {
    this.#isFrozen = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** Forwards the next query with this text, and then nothing: it is carried out, and its answer is not seen. */
  freezeAfter(text: string): void {
    this.#freeze = text;
  }

  /** Keeps the answers of all queries with this text back, until what it returns is disposed of. */
  hold(text: string): HeldAnswers {
    return (this.#held = new HeldAnswers(text));
  }

  /** Forwards nothing on the connections that there are, without closing them, as a router that has forgotten them. New ones work. */
  forget(): void {
    for (const socket of this.#sockets) socket.pause();
  }

  thaw(): void {
    this.#isFrozen = false;
    for (const socket of this.#sockets) socket.resume();
  }

  dropAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.dropAll();
    this.#server.close();
  }

  #connected(client: Socket, to: URL): void {
    if (this.#isDown) return void client.destroy();
    this.connections += 1;
    const server = connect(Number(to.port), to.hostname);
    let isLosing = false;
    let held: HeldAnswers | undefined;
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      if (this.#isFrozen) socket.pause();
      socket.on("error", () => undefined);
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    client.on("data", (chunk: Buffer) => {
      const cut = this.#cut;
      if (cut && chunk.includes(cut.text)) {
        this.#cut = undefined;
        this.cuts += 1;
        if (cut.when === "before") return void client.destroy();
        isLosing = true;
      }
      if (this.#held?.holds(chunk)) held = this.#held;
      server.write(chunk);
      if (this.#freeze === undefined || !chunk.includes(this.#freeze)) return;
      this.#freeze = undefined;
      this.freeze();
    });
    const messages = new Messages();
    server.on("data", (all: Buffer) => {
      let isReady = false;
      const chunk = messages.filtered(all, (type) => {
        isReady ||= type === READY;
        if (type === READY) this.answers += 1;
        return !(this.isMute && type === NOTIFICATION);
      });
      if (held) {
        held.add(client, chunk, { isLast: isReady });
        if (isReady) held = undefined;
        return;
      }
      // The answer is complete when the server is ready for the next query, and its transaction is then committed.
      if (!isLosing) client.write(chunk);
      else if (chunk.includes(Buffer.from([0x5a, 0, 0, 0, 5, 0x49]))) client.destroy();
    });
  }
}

const NOTIFICATION = "A".charCodeAt(0);
const READY = "Z".charCodeAt(0);

/** The messages of a server: a letter, and the length of the rest. */
class Messages {
  #rest = Buffer.alloc(0);

  /** All complete messages of these types. */
  filtered(chunk: Buffer, accepts: (type: number) => boolean): Buffer {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const kept: Buffer[] = [];
    for (let size = this.#size(); size <= this.#rest.length; size = this.#size()) {
      if (accepts(this.#rest[0]!)) kept.push(this.#rest.subarray(0, size));
      this.#rest = this.#rest.subarray(size);
    }
    return Buffer.concat(kept);
  }

  #size(): number {
    return this.#rest.length < 5 ? Infinity : 1 + this.#rest.readInt32BE(1);
  }
}
