import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import type { LiveFrame, LivePosition, LiveReader, LiveSource, ReadFrame } from "@cinch/core";
import { peerLive } from "@cinch/postgres";
import { call, say } from "@cinch/testkit";
import { idle, liveText, pair, patient, seenOf } from "../../../core/test/thread/live-pair.ts";
import { bestOfThree } from "../../../testkit/test/best-of-three.ts";
import { until } from "../until.ts";
import { warned } from "../warned.ts";

const secret = "a secret of sixteen or more".replaceAll(" ", "-");
const LONG = Array.from({ length: 200 }, (_, at) => `word${at} `).join("");

/** A source with one thread "t", whose frames the test sends. */
class TestSource implements LiveSource {
  readonly readers = new Set<ReadFrame>();
  readonly asked: (LivePosition | undefined)[] = [];

  watch(threadId: string, read: ReadFrame, from?: LivePosition): (() => void) | undefined {
    if (threadId !== "t") return undefined;
    this.asked.push(from);
    this.readers.add(read);
    read({ kind: "shown", epoch: 1, next: 0, seq: 1, events: [] });
    return () => void this.readers.delete(read);
  }

  send(first: number, size = 10): void {
    const event = { type: "info", threadId: "t", at: 0, message: "x".repeat(size) } as const;
    for (const read of this.readers) read({ kind: "events", epoch: 1, first, events: [event] });
  }
}

class TestReader implements LiveReader {
  readonly frames: LiveFrame[] = [];
  cuts = 0;
  at: LivePosition | undefined;

  read = (frame: LiveFrame): void => void this.frames.push(frame);
  position = (): LivePosition | undefined => this.at;
  cut = (): void => void this.cuts++;
}

/** A process that others can read, and its address. */
async function driver(options: Parameters<typeof peerLive>[0] = {}) {
  const source = new TestSource();
  const live = peerLive({ advertise: "127.0.0.1:0", secret, ...options });
  const { address = "" } = await live.open(source);
  const port = Number(address.split(":").at(-1));
  return { live, source, address, port, [Symbol.asyncDispose]: () => live.close() };
}

async function front(options: Parameters<typeof peerLive>[0] = { secret }) {
  const live = peerLive(options);
  assert.deepEqual(await live.open(new TestSource()), {}, "nothing can be read from a front");
  return { live, [Symbol.asyncDispose]: () => live.close() };
}

/** Events that wait for the sockets, which don't keep a process alive. */
const awake = setInterval(() => undefined, 1_000);
test.after(() => clearInterval(awake));

test("two harnesses: a subscriber in a front sees every event that one beside the driver sees", async () => {
  const lives = {
    driver: peerLive({ advertise: { host: "127.0.0.1", port: 0 }, secret }),
    watcher: peerLive({ secret }),
  };
  await using both = await pair([call("dig", { depth: 5 }), say(LONG, { size: 7, delayMs: 2 })], {
    lives,
    clock: patient,
  });
  await both.driver.sendMessage({ content: "Go." });
  await idle(both.watcher, both.driver.getDisplayState().seq);
  assert.equal(liveText(both.watcher.seen), LONG);
  assert.deepEqual(seenOf(both.watcher.seen), seenOf(both.driver.seen));
  assert.deepEqual(both.watcher.getDisplayState(), both.driver.getDisplayState());
});

test("with a wrong secret a front shows drafts, and says why", async () => {
  const warning = warned(/refuses the secret/);
  const lives = { driver: peerLive({ advertise: "127.0.0.1:0", secret }), watcher: peerLive({ secret: `${secret}!` }) };
  await using both = await pair([say(LONG, { size: 10, delayMs: 10 })], { lives });
  await both.driver.sendMessage({ content: "Go." });
  await idle(both.watcher, both.driver.getDisplayState().seq);
  assert.notEqual(liveText(both.watcher.seen), "");
  assert.ok(LONG.startsWith(liveText(both.watcher.seen)));
  assert.deepEqual(both.watcher.getDisplayState(), both.driver.getDisplayState());
  assert.equal((await warning).code, "CINCH_LIVE");
});

test("one connection carries all threads; they come and go without another one", async () => {
  await using at = await driver();
  await using reader = await front();
  const [first, second, unknown] = [new TestReader(), new TestReader(), new TestReader()];
  const stop = reader.live.follow("t", at, first);
  reader.live.follow("t", at, second);
  reader.live.follow("no such thread", at, unknown);
  await until("all are answered", () => [first, second, unknown].every(({ frames }) => frames.length === 1));
  assert.deepEqual(unknown.frames, [{ kind: "ended" }]);
  stop();
  await until("one has left", () => at.source.readers.size === 1);
  at.source.send(0);
  await until("the other one reads on", () => second.frames.length === 2);
  assert.equal(first.frames.length, 1);
  assert.equal(second.cuts, 0);
});

test("a reader whose connection is cut continues from its position", () =>
  bestOfThree(15_000, async () => {
    await using at = await driver();
    await using reader = await front();
    const proxy = createServer();
    const sockets: Socket[] = [];
    proxy.on("connection", (socket) => {
      const onward = connect(at.port, "127.0.0.1");
      sockets.push(socket, onward);
      for (const [from, to] of [
        [socket, onward],
        [onward, socket],
      ] as const) {
        from.on("error", () => to.destroy());
        from.on("close", () => to.destroy());
        from.pipe(to);
      }
    });
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const address = `127.0.0.1:${(proxy.address() as { port: number }).port}`;
    const one = new TestReader();
    reader.live.follow("t", { address }, one);
    await until("it reads", () => one.frames.length === 1);
    one.at = { epoch: 1, next: 7 };
    for (const socket of sockets) socket.destroy();
    await until("it reads again", () => one.frames.length === 2);
    assert.equal(one.cuts, 1);
    assert.deepEqual(at.source.asked, [undefined, { epoch: 1, next: 7 }]);
    // From now on nothing passes, and no end of the connection learns of it.
    for (const socket of sockets) socket.unpipe().pause();
    const cutAt = performance.now();
    await until("the silence is noticed", () => one.cuts === 2);
    const noticedMs = performance.now() - cutAt;
    for (const socket of sockets) socket.destroy();
    proxy.close();
    return noticedMs;
  }));

test("a process that never reads costs at most a megabyte or so, and then gets what is shown", async () => {
  await using at = await driver();
  const socket = await rawReader(at.port);
  socket.pause();
  socket.write(`${JSON.stringify({ follow: 1, threadId: "t" })}\n`);
  await until("it watches", () => at.source.readers.size === 1);
  let sent = 0;
  await until("it lags", () => {
    for (let i = 0; i < 50; i++) at.source.send(sent++, 20_000);
    return at.source.readers.size === 0;
  });
  assert.ok(sent * 20_000 < 20_000_000, `${sent} frames of 20 kB were taken, in buffers of the kernel too`);
  socket.resume();
  await until("it watches again", () => at.source.readers.size === 1);
  assert.deepEqual(at.source.asked, [undefined, undefined]);
  socket.destroy();
  await until("it is forgotten", () => at.source.readers.size === 0);
});

/** A connection of a reader, by hand. */
async function rawReader(port: number, header = `Authorization: Bearer ${secret}\r\n`): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write(`GET /cinch/live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: cinch-live-1\r\n${header}\r\n`);
  await once(socket, "readable");
  return socket;
}

/** Also after a reset. */
const closed = (socket: Socket): Promise<unknown> => new Promise((resolve) => socket.once("close", resolve));

async function answerTo(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let answer = "";
  socket.on("error", () => undefined);
  socket.on("data", (data) => (answer += data.toString()));
  socket.write(text);
  await closed(socket);
  return answer;
}

test("what is not a peer gets nothing, and costs nothing for long", async () => {
  await using at = await driver();
  const upgrade = "GET /cinch/live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: cinch-live-1\r\n";
  const answers = await Promise.all([
    answerTo(at.port, `${upgrade}\r\n`),
    answerTo(at.port, `${upgrade}Authorization: Bearer ${secret}x\r\n\r\n`),
    answerTo(at.port, `${upgrade}Authorization: Bearer ${secret.slice(0, -1)}\r\n\r\n`),
    answerTo(at.port, upgrade.replace("cinch-live-1", "websocket") + `Authorization: Bearer ${secret}\r\n\r\n`),
    answerTo(at.port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
    answerTo(at.port, "\u0000\u0001garbage\r\n\r\n"),
    // Never complete: it is cut by the timeout.
    answerTo(at.port, "GET /cinch/live HTTP/1.1\r\nX: "),
  ]);
  const codes = answers.map((answer) => /^HTTP\/1.1 (\d+)/.exec(answer)?.[1]);
  assert.deepEqual(codes.slice(0, 5), ["401", "401", "401", "404", "426"]);
  assert.ok(answers.slice(5).every((answer) => !answer.includes("101")));
});

test("a stranger that is refused and never closes its end holds no connection, and does not keep the process from closing", async () => {
  const at = await driver();
  const upgrade = "GET /cinch/live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n";
  const strangers = ["cinch-live-1", "websocket"].map((protocol) => {
    const socket = connect({ port: at.port, host: "127.0.0.1", allowHalfOpen: true });
    socket.on("error", () => undefined).resume();
    socket.write(`${upgrade}Upgrade: ${protocol}\r\n\r\n`);
    return socket;
  });
  await Promise.all(strangers.map((socket) => once(socket, "end")));
  await at.live.close();
  for (const socket of strangers) socket.destroy();
});

test("a peer that sends nonsense is cut off, and others are not affected", async () => {
  await using at = await driver();
  await using reader = await front();
  const one = new TestReader();
  reader.live.follow("t", at, one);
  await until("it reads", () => one.frames.length === 1);
  const follow = JSON.stringify({ follow: 1, threadId: "t" });
  const nonsense = [
    "nonsense",
    "null",
    "[]",
    '{"follow":-1}',
    '{"follow":1e99,"threadId":"t"}',
    `${follow}\n${follow}`,
  ];
  for (const line of [...nonsense, JSON.stringify({ follow: 1, threadId: "x".repeat(20_000) }), "x".repeat(100_000)]) {
    const socket = await rawReader(at.port);
    socket.resume();
    socket.write(line.length > 50_000 ? line : `${line}\n`);
    await closed(socket);
  }
  at.source.send(0);
  await until("the other one reads on", () => one.frames.length === 2);
  assert.equal(one.cuts, 0);
  assert.equal(at.source.readers.size, 1);
});

test("a driver's process that sends nonsense is cut off, and tried again", async () => {
  await using reader = await front();
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: cinch-live-1\r\n\r\n");
      socket.write(connections % 2 ? '{"no":1,"frame":{"kind":"events","epoch":1,"first":"x","events":[]}}\n' : "{\n");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const one = new TestReader();
  reader.live.follow("t", { address: `127.0.0.1:${(server.address() as { port: number }).port}` }, one);
  await until("it is tried again", () => connections >= 3);
  assert.deepEqual(one.frames, []);
  assert.ok(one.cuts >= 2);
  server.close();
});

test("without a secret it listens on loopback only, and says so if that can't be meant", async () => {
  await using local = await driver({ secret: undefined } as never);
  assert.match(local.address, /^127\.0\.0\.1:\d+$/);
  const warning = warned(/loopback only/);
  await using far = await driver({ secret: undefined, advertise: "worker-3:0" } as never);
  assert.match(far.address, /^worker-3:\d+$/);
  await warning;
  // Any address of this machine but the one that it listens on stands for the network.
  const outside = connect(far.port, "127.0.0.2");
  await assert.rejects(once(outside, "connect"), { code: /ECONNREFUSED|EADDRNOTAVAIL|ETIMEDOUT/ });
  await using reader = await front({});
  const one = new TestReader();
  reader.live.follow("t", { address: `127.0.0.1:${far.port}` }, one);
  await until("it reads", () => one.frames.length === 1);
});

test("the options are checked", async () => {
  const wrong: [unknown, RegExp][] = [
    [{ secret: "short" }, /at least 16/],
    [{ secret: "sixteen or more, with spaces" }, /printable/],
    [{ advertise: "nowhere" }, /host:port/],
    [{ advertise: "host:99999" }, /host:port/],
    [{ advertise: { host: "", port: 1 } }, /host:port/],
    [{ advertise: { host: "[::1]", port: 1 } }, /without brackets/],
    [{ advertise: { host: "worker 3", port: 1 } }, /host:port/],
    [{ advertise: { host: "http://worker", port: 1 } }, /host:port/],
    [{ advertise: "0.0.0.0:7400" }, /leads each of them to itself/],
    [{ advertise: { host: "::", port: 7400 } }, /leads each of them to itself/],
    [{ advertize: "x:1" }, /advertize/],
  ];
  for (const [options, message] of wrong)
    assert.throws(() => peerLive(options as never), { code: "INVALID_CONFIG", message });
  await using first = await driver();
  const second = peerLive({ advertise: `127.0.0.1:${first.port}`, secret });
  await assert.rejects(second.open(new TestSource()), { code: "INVALID_CONFIG", message: /can't listen/ });
  await second.close();
});
