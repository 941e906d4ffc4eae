/** The commands of `clients()`, in a process of their own. */
import { Agent, get, request } from "node:http";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { median } from "../numbers.mjs";

/** A delta can say when the model gave it: `@1794834024719`. */
const TIME = /@(\d{13})/g;
const SEQ = /^id: (\d+)$/m;
const DELTA = 'data: {"type":"message_update"';

/** One stream of events, which is read and hardly parsed. */
class Stream {
  bytes = 0;
  wireBytes = 0;
  frames = 0;
  resyncs = 0;
  seq = 0;
  latencies = [];
  isOver = false;
  tail = "";
  #request;
  #rest = "";

  constructor({ port, path }) {
    this.opened = new Promise((resolve, reject) => {
      this.#request = get({ port, path, agent: false }, (response) => {
        if (response.statusCode !== 200) return reject(new Error(`${path}: ${response.statusCode}`));
        this.socket = response.socket;
        response.setEncoding("utf8");
        response.on("data", (text) => this.#read(text, resolve));
        response.on("close", () => (this.isOver = true));
      });
      this.#request.on("error", reject);
    });
  }

  /** Whether it gets the event before it ends. */
  async has(seq) {
    const isOpen = await this.opened.then(
      () => true,
      () => false,
    );
    if (!isOpen) return false;
    while (this.seq < seq && !this.isOver) await pause(5);
    return this.seq >= seq;
  }

  close() {
    this.#request.destroy();
  }

  #read(text, opened) {
    const now = Date.now();
    this.bytes += Buffer.byteLength(text);
    const frames = (this.#rest + text).split("\n\n");
    this.#rest = frames.pop();
    this.frames += frames.length;
    for (const frame of frames) {
      const [, seq] = SEQ.exec(frame) ?? [];
      if (seq !== undefined) this.seq = Number(seq);
      if (frame.includes('"type":"resync"')) this.resyncs += 1;
      // The whole message, at its end, has all times again.
      if (!frame.startsWith(DELTA)) continue;
      for (const [, at] of frame.matchAll(TIME)) this.latencies.push(now - Number(at));
    }
    this.tail = (this.tail + text).slice(-2_000);
    opened();
  }
}

let streams = [];
let stuck = [];
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

const commands = {
  /** Opens streams, each after the one before it, and settles when each has its first frame. */
  async watch({ port, paths }) {
    for (const path of paths) {
      const stream = new Stream({ port, path });
      streams.push(stream);
      await stream.opened;
    }
  },
  /** Opens streams that are never read. */
  async watchWithoutReading({ port, path, count }) {
    for (let n = 0; n < count; n++) {
      const socket = connect(port, "127.0.0.1");
      socket.pause();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      stuck.push(socket);
    }
    await pause(200);
  },
  /** Forgets what was counted so far. */
  async count() {
    for (const stream of streams) {
      Object.assign(stream, { bytes: 0, frames: 0, resyncs: 0, latencies: [], wireFrom: stream.socket.bytesRead });
    }
  },
  /** Settles when every stream has received the text. */
  async received({ text, ms = 60_000 }) {
    const end = Date.now() + ms;
    while (!streams.every(({ tail }) => tail.includes(text))) {
      if (Date.now() > end)
        throw new Error(`${streams.filter(({ tail }) => !tail.includes(text)).length} streams are behind`);
      await pause(2);
    }
  },
  async counted() {
    const latencies = streams.flatMap((stream) => stream.latencies).toSorted((a, b) => a - b);
    const sum = (pick) => streams.reduce((total, stream) => total + pick(stream), 0);
    return {
      bytes: sum(({ bytes }) => bytes),
      wireBytes: sum(({ socket, wireFrom = 0 }) => socket.bytesRead - wireFrom),
      frames: sum(({ frames }) => frames),
      resyncs: sum(({ resyncs }) => resyncs),
      ended: streams.filter(({ isOver }) => isOver).length,
      latencies: latencies.length,
      p50Ms: latencies[Math.floor(latencies.length * 0.5)],
      p99Ms: latencies[Math.floor(latencies.length * 0.99)],
      maxMs: latencies.at(-1),
    };
  },
  /** Returns to each stream that was cut, as soon as the server answers. Settles when all have the event `seq`. */
  async reconnect({ port, paths, since, seq }) {
    const from = performance.now();
    await Promise.all(
      paths.map(async (path) => {
        for (;;) {
          const stream = new Stream({ port, path: `${path}?since=${since}` });
          if (await stream.has(seq)) return streams.push(stream);
          await pause(50);
        }
      }),
    );
    return { ms: performance.now() - from };
  },
  async close() {
    for (const stream of streams) stream.close();
    for (const socket of stuck) socket.destroy();
    streams = [];
    stuck = [];
  },
  /** The time to the first byte and to the last of a GET, and its bytes, several times. */
  async gets({ port, path, times }) {
    const all = [];
    for (let n = 0; n < times; n++) all.push(await timedGet({ port, path }));
    const [{ bytes, status }] = all;
    return {
      status,
      bytes,
      firstMs: median(all.map(({ firstMs }) => firstMs)),
      allMs: median(all.map(({ allMs }) => allMs)),
    };
  },
  /** How long each of these commands takes on one connection. */
  async posts({ port, path, times, body }) {
    const took = [];
    for (let n = 0; n < times; n++) took.push(await timedPost({ port, path, body }));
    return { p50Ms: median(took) };
  },
};

function timedGet({ port, path }) {
  const from = performance.now();
  return new Promise((resolve, reject) => {
    const sent = get({ port, path, agent, headers: { "accept-encoding": "gzip" } }, (response) => {
      let bytes = 0;
      let firstMs;
      response.on("data", (chunk) => {
        firstMs ??= performance.now() - from;
        bytes += chunk.length;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode, bytes, firstMs, allMs: performance.now() - from }),
      );
    });
    sent.on("error", reject);
  });
}

function timedPost({ port, path, body }) {
  const text = JSON.stringify(body);
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
  const from = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request({ port, path, agent, method: "POST", headers }, (response) => {
      response.resume();
      response.on("end", () => {
        if (response.statusCode >= 300) reject(new Error(`${path}: ${response.statusCode}`));
        else resolve(performance.now() - from);
      });
    });
    sent.on("error", reject);
    sent.end(text);
  });
}

process.on("message", async ({ id, command, options }) => {
  try {
    process.send({ id, result: await commands[command](options) });
  } catch (error) {
    process.send({ id, failed: String(error?.stack ?? error) });
  }
});
