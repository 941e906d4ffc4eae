import { request, type ClientRequest } from "node:http";
import type { Duplex } from "node:stream";
import type { LiveReader } from "@cinch/core";
import { LIVE_PATH, LIVE_PROTOCOL } from "./live-server.ts";
import { MAX_FRAME_CHARS, parseMessage, type LiveRequest } from "./live-message.ts";
import { parseAddress, warnLive } from "./live-options.ts";
import { LineSocket } from "./line-socket.ts";

const CONNECT_MS = 3_000;
/** Before the first attempt after a cut, doubled with each. */
const RETRY_MS = 50;
const MAX_RETRY_MS = 3_000;
/** A process that refuses the secret is tried again only now and then. */
const REFUSED_MS = 15_000;

interface Following {
  threadId: string;
  reader: LiveReader;
}

/** Another process, and the one connection over which all its threads are read that are needed here. */
export class LivePeer {
  readonly #address: string;
  readonly #secret: string | undefined;
  readonly #following = new Map<number, Following>();
  #nextNo = 1;
  #connecting: ClientRequest | undefined;
  #lines: LineSocket | undefined;
  #retry: NodeJS.Timeout | undefined;
  #attempts = 0;
  #isClosed = false;
  #hasWarned = false;

  constructor(address: string, secret: string | undefined) {
    this.#address = address;
    this.#secret = secret;
  }

  get isNeeded(): boolean {
    return this.#following.size > 0;
  }

  follow(threadId: string, reader: LiveReader): () => void {
    const no = this.#nextNo++;
    this.#following.set(no, { threadId, reader });
    if (this.#lines) this.#request(no);
    else this.#connect();
    return () => {
      if (this.#following.delete(no)) this.#send({ leave: no });
    };
  }

  #request(no: number): void {
    const { threadId, reader } = this.#following.get(no)!;
    const from = reader.position();
    this.#send({ follow: no, threadId, ...(from ? { from } : {}) });
  }

  #send(message: LiveRequest): void {
    this.#lines?.send(JSON.stringify(message));
  }

  #connect(): void {
    if (this.#isClosed || this.#connecting || this.#lines || this.#retry || !this.isNeeded) return;
    const address = parseAddress(this.#address);
    if (!address) return;
    const authorization = this.#secret === undefined ? {} : { authorization: `Bearer ${this.#secret}` };
    const headers = { connection: "Upgrade", upgrade: LIVE_PROTOCOL, ...authorization };
    const connecting = request({ ...address, path: LIVE_PATH, headers, timeout: CONNECT_MS, agent: false });
    this.#connecting = connecting;
    connecting.on("upgrade", (_, socket, head) => {
      // It was that of the request.
      socket.setTimeout(0);
      this.#connected({ socket, head });
    });
    const failed = (isRefused: boolean) => {
      if (this.#connecting === connecting) this.#failed({ isRefused });
      connecting.destroy();
    };
    connecting.on("response", ({ statusCode }) => failed(statusCode === 401));
    connecting.on("timeout", () => failed(false));
    connecting.on("error", () => failed(false));
    connecting.on("close", () => failed(false));
    connecting.on("socket", (socket) => socket.unref());
    connecting.end();
  }

  #failed({ isRefused }: { isRefused: boolean }): void {
    this.#connecting = undefined;
    if (isRefused && !this.#hasWarned) {
      this.#hasWarned = true;
      warnLive(
        `The process at ${this.#address} refuses the secret of peerLive, so its threads are shown by drafts. Give all processes the same secret.`,
      );
    }
    this.#connectLater(isRefused ? REFUSED_MS : undefined);
  }

  #connectLater(ms = Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** this.#attempts++)): void {
    if (this.#isClosed) return;
    // Not all readers of a process that is back connect at the same moment.
    const jittered = ms * (0.5 + Math.random());
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#connect();
    }, jittered).unref();
  }

  #connected({ socket, head }: { socket: Duplex; head: Buffer }): void {
    this.#connecting = undefined;
    if (this.#isClosed || !this.isNeeded) return void socket.destroy();
    // A line has the frame and its number.
    const options = { head, maxChars: MAX_FRAME_CHARS + 100 };
    this.#lines = new LineSocket(socket, options, {
      line: (line) => this.#received(line),
      closed: () => this.#cut(),
    });
    for (const no of this.#following.keys()) this.#request(no);
  }

  #received(line: string): void {
    const { no, frame } = parseMessage(line);
    this.#attempts = 0;
    const following = this.#following.get(no);
    if (frame.kind === "ended") this.#following.delete(no);
    following?.reader.read(frame);
  }

  #cut(): void {
    this.#lines = undefined;
    this.#connectLater();
    for (const { reader } of Array.from(this.#following.values())) reader.cut();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#following.clear();
    this.#connecting?.destroy();
    this.#lines?.close();
  }
}
