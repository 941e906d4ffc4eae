/** A worker or a front of the built packages, on one database. Answers commands of `peers.mjs`. */
import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { built } from "../built.mjs";
import { textModel } from "../serving/served.mjs";

const [{ Agent, Harness }, { peerLive, postgresStore }] = await Promise.all([built("core"), built("postgres")]);
const nowhere = { serve: async () => {}, wake: async () => {}, drain: async () => {} };
const sessions = [];
const latencies = [];
let texts = 0;
let harness;

async function* timed({ perSecond, seconds }) {
  for (let at = 0; at < perSecond * seconds; at++) {
    await pause(1_000 / perSecond);
    yield `@${performance.timeOrigin + performance.now()} `;
  }
}

const commands = {
  /** `drives`: it drives what it has open. Otherwise it is a front. */
  async open({ url, secret, drives, linked, pace }) {
    const agent = new Agent({ name: "bench", instructions: "Stream.", model: textModel(() => timed(pace)) });
    const live = peerLive({ secret, ...(drives && { advertise: "127.0.0.1:0" }) });
    const role = { ...(linked && { live }), ...(!drives && { placement: nowhere }) };
    harness = new Harness({ id: "bench", agent, storage: postgresStore({ url }), ...role });
    await harness.init();
  },
  async create({ threads }) {
    for (let at = 0; at < threads; at++) {
      const session = await harness.createSession();
      await session.createThread();
      sessions.push(session);
    }
    return sessions.map((session) => session.getCurrentThreadId());
  },
  async watch({ threads }) {
    for (const threadId of threads) {
      const session = await harness.createSession({ threadId });
      session.subscribe((event) => {
        if (event.type !== "message_update") return;
        const now = performance.timeOrigin + performance.now();
        for (const [, at] of event.delta.matchAll(/@([\d.]+) /g)) latencies.push(now - Number(at));
        texts += event.delta.length;
      });
      sessions.push(session);
    }
  },
  async stream() {
    await Promise.all(sessions.map((session) => session.sendMessage({ content: "go" })));
  },
  async counted() {
    const sorted = latencies.toSorted((a, b) => a - b);
    const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
    return { count: sorted.length, texts, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: sorted.at(-1) };
  },
  cpu: async () => process.cpuUsage().user + process.cpuUsage().system,
  close: async () => harness.close({ drainMs: 100 }),
};

process.on("message", async ({ id, command, options }) => {
  try {
    process.send({ id, result: await commands[command](options) });
  } catch (error) {
    process.send({ id, failed: String(error?.stack ?? error) });
  }
});
